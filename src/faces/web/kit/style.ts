const light = `--bg:#f6f7f9;--card:#fff;--ink:#16202c;--soft:#515e6b;--line:#dbe0e6;--grid:#e3e7eb;--link:#17538f;--raised:#eef1f4;
--bad:#a8201a;--bad-bg:#fdecea;--warn:#7d4f00;--warn-bg:#fff2d6;--calm:#35566f;--calm-bg:#e6eef5;--good:#0a6640;--good-bg:#e5f5ec;--none:#46525f;--none-bg:#e9edf1;
--one:#1f5fa8;--two:#b8500b;
--age1:#dbe9f6;--age2:#a9cdea;--age3:#6aa5d8;--age4:#2a6fb0;--age5:#0c3a68;
--on1:#15202b;--on2:#15202b;--on3:#15202b;--on4:#fff;--on5:#fff`;
const dark = `--bg:#10151b;--card:#18202a;--ink:#e7ecf2;--soft:#a3b0be;--line:#2d3946;--grid:#2a3542;--link:#8dbdf5;--raised:#222c37;
--bad:#ff9a90;--bad-bg:#3a1b1a;--warn:#ffd27a;--warn-bg:#36290f;--calm:#a8c7e0;--calm-bg:#1b2b3a;--good:#7fe0b0;--good-bg:#12301f;--none:#b7c2cf;--none-bg:#222c37;
--one:#67a9f0;--two:#ff9f57;
--age1:#1d3448;--age2:#2a567c;--age3:#33709f;--age4:#86bdea;--age5:#d6ebfc;
--on1:#e6ebf0;--on2:#fff;--on3:#fff;--on4:#12171c;--on5:#12171c`;

/** A wide table whose rows are blocks: for a screen that is too narrow for its columns. */
export const tableBlocks = `.wide{overflow-x:visible}
.wide table,.wide caption,.wide tbody,.wide tr,.wide th,.wide td{display:block;min-width:0;overflow-wrap:anywhere}
.wide thead{position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden}
.wide tr{border-bottom:1px solid var(--line);padding:5px 0}.wide th,.wide td{border:0;padding:1px 0}.wide .number{text-align:left}`;

/**
 * The look that all pages share: colours, banners, tiles, cards, forms and plain tables. It is readable in both
 * schemes, at 360 px, by keyboard, and on A4. Only the verdict `reconciled` is green.
 */
export const pageStyle = `:root{color-scheme:light dark;${light}}
@media (prefers-color-scheme:dark){:root{${dark}}}
*{box-sizing:border-box}
body{font:14px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;margin:0;color:var(--ink);background:var(--bg);overflow-wrap:anywhere}
header,main,footer{max-width:1228px;margin:0 auto;padding:0 24px}
header{display:flex;flex-wrap:wrap;gap:4px 24px;align-items:baseline;justify-content:space-between;padding-top:16px}
footer{padding-bottom:24px;color:var(--soft);font-size:13px}
h1{font-size:24px;line-height:1.25;margin:0}
h2{font-size:17px;margin:22px 0 8px}
h3{font-size:15px;margin:12px 0 6px}
p{margin:8px 0;max-width:70rem}header p{margin:2px 0 0;flex-basis:100%;max-width:none}footer p{max-width:none}
a{color:var(--link);text-underline-offset:.15em}
[hidden]{display:none!important}
input[type=date]:focus-within,:focus-visible{outline:3px solid var(--two);outline-offset:2px}
input,textarea,button,select{font:inherit;color:inherit;background:var(--bg);border:1px solid var(--soft);border-radius:8px;padding:5px 10px;min-width:0;max-width:100%}
dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 14px;margin:0}dt{color:var(--soft)}dd{margin:0;min-width:0}
.skip{position:absolute;left:-100vw;top:0;padding:8px 16px;background:var(--card);z-index:2}.skip:focus{left:0}
nav ul{display:flex;flex-wrap:wrap;gap:2px 16px;list-style:none;padding:0;margin:0}
.soft{color:var(--soft);font-weight:400}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%}
caption{text-align:left;font-weight:600;padding:4px 0;color:var(--soft)}
th,td{text-align:left;vertical-align:top;padding:6px 12px 6px 0;border-bottom:1px solid var(--line);overflow-wrap:normal}
thead th{font-size:13px;color:var(--soft);font-weight:600}th[scope=row]{font-weight:500}
time,.whole{white-space:nowrap}
.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
code{font:.92em ui-monospace,"DejaVu Sans Mono",Consolas,monospace;background:var(--raised);padding:.1em .35em;border-radius:4px}.digest{overflow-wrap:normal;word-break:keep-all;-webkit-box-decoration-break:clone;box-decoration-break:clone}
summary{cursor:pointer;color:var(--link)}
.badge{border-radius:99px;padding:1px 9px;font-size:13px;font-weight:600;white-space:nowrap}
.badge.high{background:var(--bad-bg);color:var(--bad)}.badge.medium{background:var(--warn-bg);color:var(--warn)}.badge.low{background:var(--calm-bg);color:var(--calm)}.badge.ok{background:var(--good-bg);color:var(--good)}
.good{color:var(--good);font-weight:700}.bad{color:var(--bad);font-weight:700}
.card{background:var(--card);border:1px solid var(--line);border-radius:10px}
.card th:first-child,.card td:first-child{padding-left:14px}.card th:last-child,.card td:last-child{padding-right:14px}
.card tbody:last-child tr:last-child>*{border-bottom:0}
.notice{max-width:none;margin:0 0 12px;padding:10px 16px;border-radius:10px;border-left:6px solid var(--bad);background:var(--bad-bg)}
.notice strong{color:var(--bad)}.notice code{background:var(--card)}
.verdicts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,290px),1fr));gap:12px;margin-top:14px}.verdicts .notice{grid-column:1/-1;margin:0}
.verdict{border-radius:10px;padding:9px 16px;border-left:6px solid var(--none);background:var(--none-bg)}
.verdict strong{font-size:17px}.verdict p,.verdict ul{margin:2px 0 0}.verdict ul{padding-left:0;list-style:none}
.difference b{font-size:17px;font-variant-numeric:tabular-nums}.verdict .made{margin:2px 0 4px;max-width:34rem}.made li{display:flex;justify-content:space-between;gap:12px;font-size:13px;line-height:1.4}
.verdict.is-good{background:var(--good-bg);border-color:var(--good)}.verdict.is-good strong{color:var(--good)}
.verdict.is-bad{background:var(--bad-bg);border-color:var(--bad)}.verdict.is-bad strong{color:var(--bad)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,160px),1fr));gap:12px;margin-top:12px}
.tile{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:9px 14px;min-width:0}
.tile span,.tile dt{color:var(--soft);font-size:13px}.tile strong,.tile b{display:block;font-size:20px;line-height:1.3;font-variant-numeric:tabular-nums}
.tile small{display:block;color:var(--soft);font-size:13px;font-variant-numeric:tabular-nums}
.sums{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,330px),1fr));gap:12px;align-items:start}
.sum th,.sum td{padding-top:3px;padding-bottom:3px}.sum .sum>*{font-weight:700}.sum .of th{padding-left:28px}
.sum td,.sum td.number{white-space:nowrap}
.empty{margin:0;max-width:none;padding:4px 14px;border:1px dashed var(--line);border-radius:10px;color:var(--soft)}
.sign{display:grid;grid-template-columns:2fr 2fr 1fr;gap:3rem 1.5rem;margin:3rem 0 1rem;break-inside:avoid}.sign p{border-top:1px solid var(--ink);padding-top:.3rem;margin:0}.sign .of{grid-column:1/-1;border:0;font-weight:600}
@media (max-width:560px){header,main,footer{padding-left:14px;padding-right:14px}header{padding-top:10px}h1{font-size:18px}nav ul{gap:2px 12px}
time,.number,.badge,.whole{white-space:normal}dl{grid-template-columns:fit-content(45%) 1fr}.sum{font-size:13px}.sum th,.sum td{padding-right:8px}.sum .of th{padding-left:22px}
.verdicts,.tiles{gap:8px;margin-top:8px}.verdict{padding:6px 12px}.made li{font-size:12px;line-height:1.25}.verdict .made{margin:0}
.tiles{grid-template-columns:1fr 1fr}.tile{padding:6px 10px}.tile strong{font-size:18px}
${tableBlocks}
.card.wide tr{padding:8px 12px}.card.wide tr>*{padding:1px 0!important}
.wide [data-label]::before{content:attr(data-label) ": ";color:var(--soft)}}
@page{size:A4;margin:15mm}
@media print{:root{color-scheme:light;${light}}
body{font-size:9pt;background:#fff}header,main,footer{max-width:none;padding:0}.skip,nav,.act{display:none}
h2,h3,caption,figcaption{break-after:avoid}figure,.card:not(.wide),.verdict,.tile,.notice,tr{break-inside:avoid}thead{display:table-header-group}
.wide{overflow:visible}th,td{padding:3px 6px 3px 0;overflow-wrap:break-word}thead th{font-size:9pt;white-space:normal!important;overflow-wrap:normal}a{color:var(--ink)}
.sums{grid-template-columns:1fr 1fr;gap:6px 8px}.sums>:first-child{grid-row:span 2}.empty{padding:4px 6px}.sum{font-size:9pt}.sum th,.sum td{padding:2px 4px 2px 0}.sum th:first-child{padding-left:6px}.sum td:last-child,.sum th:last-child{padding-right:6px}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
`;
