/** What runs inside the browser, as text: these few lines need its types, and nothing else here may have them. */

/** Relative luminance contrast (WCAG 2.2, 1.4.3) of all text against what is behind it; the lowest. */
export const lowestContrast = `(() => {
  const channels = (colour) => (colour.match(/[\\d.]+/g) ?? []).map(Number);
  const luminance = (colour) => {
    const [r, g, b] = channels(colour).map((value) => {
      const share = value / 255;
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const colour = getComputedStyle(one).backgroundColor;
      if (channels(colour)[3] !== 0) return colour;
    }
    return 'rgb(255, 255, 255)';
  };
  const text = 'p, li, th, td, a, code, dt, dd, caption, figcaption, summary, h1, h2, h3, small, strong, .badge, .good, .bad, .soft';
  const ratios = [...document.querySelectorAll(text)].map((element) => {
    const pair = [luminance(getComputedStyle(element).color), luminance(behind(element))].sort((a, b) => b - a);
    return (pair[0] + 0.05) / (pair[1] + 0.05);
  });
  return Math.min(...ratios);
})()`;

export const tooWide = 'document.documentElement.scrollWidth - window.innerWidth';

/** The parts that are wider inside than outside, so that a reader must scroll them sideways or cannot see all of them. */
export const overflowing = `[...document.querySelectorAll('body *:not(.skip):not(svg *)')]
  .filter((one) => !one.closest('thead') && getComputedStyle(one).display !== 'inline')
  .filter((one) => one.scrollWidth > one.clientWidth + 1 || one.getBoundingClientRect().right > innerWidth + 1)
  .map((one) => one.tagName + '.' + one.getAttribute('class') + ' ' + one.textContent.slice(0, 60))`;

/** Words and numbers of tables that stand on two lines, and names of payouts that do: nobody can read them out. */
export const brokenWords = `(() => {
  const lines = (range) => new Set([...range.getClientRects()].filter(({ width }) => width > 0).map(({ top }) => Math.round(top))).size;
  const broken = [];
  const isSpoken = (cell) => (cell.closest('thead')?.getBoundingClientRect().height ?? 9) < 2;
  for (const cell of [...document.querySelectorAll('td, th, dd')].filter((one) => !isSpoken(one))) {
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text !== null; text = texts.nextNode())
      for (const word of text.data.matchAll(/[\\p{L}\\p{N}_.,]{2,40}/gu)) {
        const range = document.createRange();
        range.setStart(text, word.index);
        range.setEnd(text, word.index + word[0].length);
        if (lines(range) > 1) broken.push(word[0]);
      }
  }
  for (const one of document.querySelectorAll('th a[href^="/payouts/"], td a[href^="/payouts/"]'))
    if (one.textContent.length <= 40 && lines(one) > 1) broken.push(one.textContent);
  return broken;
})()`;

export const focused = `({
  text: document.activeElement.textContent.trim(),
  outlined: getComputedStyle(document.activeElement).outlineStyle !== 'none',
})`;

/** 180 mm of paper lie between the margins of A4: 680 pixels. */
export const widerThanPaper = `[...document.querySelectorAll('table, svg, code')]
  .filter((one) => one.getBoundingClientRect().right > 681).length`;

/** How the page is built, for who hears it. */
export type Structure = {
  landmarks: number[];
  levels: number[];
  unscoped: number;
  unnamed: number;
  untold: number;
  pictures: number;
};
export const structure = `(() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const named = (svg) => document.getElementById(svg.getAttribute('aria-labelledby'))?.textContent;
  return {
    landmarks: ['header', 'main', 'footer'].map((one) => all('body > ' + one).length),
    levels: all('h1, h2, h3, h4').map((heading) => Number(heading.tagName[1])),
    unscoped: all('th:not([scope])').length,
    unnamed: all('svg').filter((svg) => svg.getAttribute('role') !== 'img' || !named(svg)).length,
    untold: all('svg').filter((svg) => svg.parentElement.querySelector('table') === null).length,
    pictures: all('svg').length,
  };
})()`;
