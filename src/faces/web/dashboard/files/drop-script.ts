/**
 * The script of the page where files are dropped. Without it the form works as forms do. It takes files that are dragged
 * on it, and shows how much has arrived.
 */
export const dropScript = `(() => {
  const form = document.getElementById('drop-form');
  if (!form) return;
  const input = form.querySelector('input[type=file]');
  const bar = form.querySelector('progress');
  const news = document.getElementById('drop-news');
  const button = form.querySelector('button');
  const most = Number(form.dataset.most);
  document.getElementById('drop-hint').hidden = false;
  const say = (text) => { news.textContent = text; };
  for (const name of ['dragover', 'dragleave', 'drop'])
    form.addEventListener(name, (event) => {
      event.preventDefault();
      form.classList.toggle('is-over', name === 'dragover');
    });
  form.addEventListener('drop', (event) => {
    if (button.disabled || event.dataTransfer.files.length === 0) return;
    input.files = event.dataTransfer.files;
    form.requestSubmit();
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const large = [...input.files].find((one) => one.size > most);
    if (large) return say(large.name + ' has ' + large.size + ' bytes; at most ' + most + ' are allowed. Split it.');
    const sent = new XMLHttpRequest();
    const end = (text) => { bar.hidden = true; button.disabled = false; say(text); };
    sent.upload.addEventListener('progress', ({ loaded, total }) => {
      bar.max = total;
      bar.value = loaded;
      say(loaded < total ? Math.floor(loaded / total * 100) + ' % sent' : 'Sent. It is being checked…');
    });
    sent.addEventListener('load', () => {
      if (sent.status < 300) return location.assign(sent.responseURL);
      const main = new DOMParser().parseFromString(sent.responseText, 'text/html').querySelector('main');
      if (!main) return end('It was refused (' + sent.status + ').');
      document.querySelector('main').replaceWith(document.adoptNode(main));
      main.focus();
    });
    sent.addEventListener('error', () => end('The connection was lost, or the server refused the file. Nothing was taken in: try again.'));
    sent.open('POST', form.action);
    sent.send(new FormData(form));
    bar.hidden = false;
    button.disabled = true;
    say('0 % sent');
  });
})();
`;
