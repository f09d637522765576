const light = `--ink:#15202b;--soft:#4a5763;--paper:#fff;--raised:#f4f6f8;--line:#c5ccd3;--grid:#e3e7eb;--link:#0b57a4;
--one:#0b66b0;--two:#b8500b;--three:#00704f;--grey:#66717c;
--age1:#dbe9f6;--age2:#a9cdea;--age3:#6aa5d8;--age4:#2a6fb0;--age5:#0c3a68;
--on1:#15202b;--on2:#15202b;--on3:#15202b;--on4:#fff;--on5:#fff;
--high:#a3141c;--medium:#8a4b00;--low:#35566f;--good:#00643f`;
const dark = `--ink:#e6ebf0;--soft:#aab6c1;--paper:#12171c;--raised:#1b222a;--line:#48545f;--grid:#2b343d;--link:#8cc4ff;
--one:#67b2f5;--two:#ff9f57;--three:#4fcf9f;--grey:#95a1ad;
--age1:#1d3448;--age2:#2a567c;--age3:#33709f;--age4:#86bdea;--age5:#d6ebfc;
--on1:#e6ebf0;--on2:#fff;--on3:#fff;--on4:#12171c;--on5:#12171c;
--high:#ff9a94;--medium:#ffc078;--low:#a8c7e0;--good:#6fdca6`;

/** The look of report.html and index.html: readable in both schemes, at 360 px, by keyboard, and on A4. */
export const pageStyle = `:root{color-scheme:light dark;${light}}
@media (prefers-color-scheme:dark){:root{${dark}}}
*{box-sizing:border-box}
body{font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;margin:0;color:var(--ink);background:var(--paper);overflow-wrap:anywhere}
header,main,footer{max-width:64rem;margin:0 auto;padding:0 1rem}
header{padding-top:1.25rem}footer{padding-bottom:2rem;color:var(--soft)}
h1{font-size:1.6rem;line-height:1.25;margin:.4rem 0}
h2{font-size:1.25rem;margin:2.2rem 0 .6rem;padding-top:.8rem;border-top:2px solid var(--line)}
h3{font-size:1.05rem;margin:1.3rem 0 .4rem}
p{margin:.5rem 0;max-width:46rem}
a{color:var(--link);text-underline-offset:.15em}
a:focus-visible,.wide:focus-visible{outline:3px solid var(--two);outline-offset:2px;border-radius:2px}
.skip{position:absolute;left:-100vw;top:0;padding:.5rem 1rem;background:var(--paper);z-index:1}.skip:focus{left:0}
nav ul{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;list-style:none;padding:0;margin:.6rem 0}
.soft{color:var(--soft)}
.wide{overflow-x:auto;margin:.6rem 0 1rem}
table{border-collapse:collapse;min-width:min(100%,24rem)}
caption{text-align:left;font-weight:600;padding:.2rem 0;color:var(--soft)}
th,td{text-align:left;vertical-align:top;padding:.3rem .9rem .3rem 0;border-bottom:1px solid var(--line);overflow-wrap:normal}
th[scope=row]{font-weight:500}td{min-width:4rem}
time{white-space:nowrap}
.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
td.number,th.number{padding-left:.6rem}
code{font:.92em ui-monospace,"DejaVu Sans Mono",Consolas,monospace;background:var(--raised);padding:.1em .35em;border-radius:3px}
.badge{font-weight:700;white-space:nowrap}
.high{color:var(--high)}.medium{color:var(--medium)}.low{color:var(--low)}
.good{color:var(--good);font-weight:700}.bad{color:var(--high);font-weight:700}
.verdict{border-left:.35rem solid var(--line);background:var(--raised);padding:.6rem .9rem;margin:.6rem 0;max-width:none}
.verdict.is-reconciled{border-color:var(--good)}.verdict.is-exceptions,.verdict.is-not_compared{border-color:var(--high)}
ol.cards{list-style:none;padding:0;margin:1rem 0}
.card{border:1px solid var(--line);border-left-width:.35rem;border-radius:4px;padding:.6rem .9rem;margin:0 0 .8rem;background:var(--raised)}
.card.is-high{border-left-color:var(--high)}.card.is-medium{border-left-color:var(--medium)}.card.is-low{border-left-color:var(--low)}
.card h3,.card h4{margin:0 0 .3rem}
.card code{background:var(--paper);border:1px solid var(--line)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem .9rem;margin:.4rem 0}
dt{color:var(--soft)}dd{margin:0;min-width:0}
@media (min-width:52rem){.card dl{grid-template-columns:max-content 1fr max-content 1fr}}
figure{margin:.8rem 0}figcaption{margin:.2rem 0 .4rem;max-width:46rem}
figure svg{display:block;width:100%;min-width:28rem;max-width:42rem;height:auto;color:var(--ink);overflow:visible}
@media (max-width:30rem){dl{grid-template-columns:1fr}dd{margin-bottom:.3rem}h1{font-size:1.35rem}
.wide{overflow-x:visible}figure svg{min-width:0}time,.number,.badge{white-space:normal}
table,caption,tbody,tr,th,td{display:block;min-width:0;overflow-wrap:anywhere}thead{position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden}
tr{border-bottom:1px solid var(--line);padding:.3rem 0}th,td{border:0;padding:.1rem 0}td.number,th.number{text-align:left;padding-left:0}
td[data-label]::before{content:attr(data-label) ": ";color:var(--soft)}}
@page{size:A4;margin:15mm}
@media print{:root{color-scheme:light;${light}}
body{font-size:9.5pt}header,main,footer{max-width:none;padding:0}.skip,nav{display:none}
h2,h3,h4,caption,figcaption,figure svg{break-after:avoid}figure svg,.card,.verdict,tr{break-inside:avoid}thead{display:table-header-group}
.wide{overflow:visible}table{width:100%}th,td{padding:.2rem .5rem .2rem 0;overflow-wrap:anywhere}
td{min-width:0}.card,.verdict{background:none}a{color:var(--ink)}figure svg{min-width:0;max-width:150mm}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
`;
