/** How many rows of a long list are shown at a time. */
const shownAtOnce = 25;

/** Gives each long list a search field and pages. Without it the whole list is there to read. */
export const indexScript = `for (const list of document.querySelectorAll('[data-list]')) {
  const rows = [...list.querySelectorAll('tbody tr')];
  const size = ${shownAtOnce};
  if (rows.length <= size) continue;
  const make = (name, more) => Object.assign(document.createElement(name), more);
  const name = list.dataset.list;
  const bar = make('div', { className: 'search' });
  bar.setAttribute('role', 'search');
  const input = make('input', { type: 'search', placeholder: 'Search ' + name, autocomplete: 'off', ariaLabel: 'Search ' + name });
  const back = make('button', { type: 'button', textContent: 'Previous' });
  const next = make('button', { type: 'button', textContent: 'Next' });
  const count = make('p', {});
  count.setAttribute('role', 'status');
  const texts = rows.map((row) => row.textContent.toLowerCase());
  let page = 0;
  const show = () => {
    const words = input.value.toLowerCase().split(/\\s+/).filter(Boolean);
    const hits = rows.filter((row, index) => words.every((word) => texts[index].includes(word)));
    const last = Math.max(0, Math.ceil(hits.length / size) - 1);
    page = Math.min(Math.max(page, 0), last);
    const some = new Set(hits.slice(page * size, (page + 1) * size));
    for (const row of rows) row.hidden = !some.has(row);
    const number = (value) => value.toLocaleString('en');
    count.textContent = hits.length === 0 ? 'none of ' + number(rows.length)
      : number(page * size + 1) + '–' + number(page * size + some.size) + ' of ' + number(hits.length);
    back.disabled = page === 0;
    next.disabled = page === last;
  };
  input.addEventListener('input', () => { page = 0; show(); });
  back.addEventListener('click', () => { page -= 1; show(); });
  next.addEventListener('click', () => { page += 1; show(); });
  bar.append(input, back, next, count);
  list.prepend(bar);
  show();
}
`;
