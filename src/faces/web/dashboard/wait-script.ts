/** After so many seconds a reader looks again. */
export const lookAgainSeconds = 10;

/** The script of a page that stands in for another one: it loads that once the server can show it, and not before. */
export const waitScript = `(() => {
  const look = async () => {
    const reply = await fetch(location.href, { headers: { accept: 'text/html' } }).catch(() => null);
    if (reply !== null && reply.status !== 503) location.reload();
    else setTimeout(look, ${lookAgainSeconds} * 1000);
  };
  setTimeout(look, ${lookAgainSeconds} * 1000);
})()`;
