/**
 * The only script: it fetches the page again when the server says that something changed, and swaps its main part. It
 * waits while somebody fills in a form, and says so when the connection is lost: old figures must not look alive.
 */
export const liveScript = `(() => {
  const live = document.getElementById('live');
  const news = document.getElementById('news');
  const patience = 45000;
  let source, watchdog, busy = false, wanted = false;
  const main = () => document.querySelector('main');
  const filling = () => {
    const at = document.activeElement;
    return main().querySelector('details[open] form, input[name=pick]:checked') !== null
      || (main().contains(at) && at.matches('input, textarea'));
  };
  const say = (text, lost) => {
    if (live.textContent !== text) live.textContent = text;
    live.classList.toggle('is-lost', lost);
    document.body.classList.toggle('is-stale', lost);
  };
  const alive = () => {
    clearTimeout(watchdog);
    watchdog = setTimeout(lose, patience);
    say(wanted ? 'New figures wait until you close the form.' : 'Live', false);
  };
  const lose = () => say('Not live: the connection is lost. The figures are those of ' + main().dataset.at + '.', true);
  const swap = (fresh) => {
    const at = document.activeElement;
    const inside = main().contains(at);
    const key = inside && (at.id ? '#' + CSS.escape(at.id) : at.getAttribute('href') && 'a[href="' + CSS.escape(at.getAttribute('href')) + '"]');
    const open = [...main().querySelectorAll('details[open][id]')].map((one) => one.id);
    main().replaceWith(document.adoptNode(fresh));
    for (const id of open) { const one = document.getElementById(id); if (one) one.open = true; }
    if (inside) (key && main().querySelector(key) || main()).focus({ preventScroll: true });
    const head = main().querySelector('[data-news]');
    if (head && news.textContent !== head.textContent) news.textContent = head.textContent;
  };
  const renew = async () => {
    wanted = busy || filling();
    if (wanted) return alive();
    busy = true;
    try {
      const reply = await fetch(location.href, { redirect: 'error' });
      if (!reply.ok) throw new Error(String(reply.status));
      const fresh = new DOMParser().parseFromString(await reply.text(), 'text/html').querySelector('main');
      if (!fresh || filling()) { wanted = true; return; }
      swap(fresh);
      alive();
    } catch { lose(); }
    finally { busy = false; }
  };
  const connect = () => {
    source = new EventSource('/events');
    source.addEventListener('version', (event) => { if (event.data !== main().dataset.version) void renew(); else alive(); });
    source.addEventListener('tick', () => void renew());
    source.addEventListener('error', () => {
      lose();
      if (source.readyState === EventSource.CLOSED) setTimeout(() => { if (!document.hidden) connect(); }, 5000);
    });
  };
  document.addEventListener('visibilitychange', () => {
    source.close();
    clearTimeout(watchdog);
    if (!document.hidden) connect();
  });
  document.addEventListener('focusout', () => { if (wanted) setTimeout(renew, 300); });
  document.addEventListener('toggle', () => { if (wanted) void renew(); }, true);
  live.hidden = false;
  if (document.hidden) return;
  connect();
})();
`;
