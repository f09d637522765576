import { pageStyle } from '../kit/style.ts';

/** The look of the dashboard: that of report.html, with what only a page that decides has. */
export const dashboardStyle = `${pageStyle}
:root{--d-bad:var(--bad,var(--high));--d-warn:var(--warn,var(--medium));--d-badbg:var(--bad-bg,var(--raised));--d-warnbg:var(--warn-bg,var(--raised));--d-goodbg:var(--good-bg,var(--raised));--d-card:var(--card,var(--raised));--d-bg:var(--bg,var(--paper))}
[hidden]{display:none!important}
body{font-size:15px;background:var(--d-bg)}
body>header{display:block;max-width:none;padding:8px 24px;background:var(--d-card);border-bottom:1px solid var(--line)}
.bar{display:flex;flex-wrap:wrap;gap:4px 20px;align-items:center;max-width:1180px;margin:0 auto}
.bar nav ul{display:flex;flex-wrap:wrap;gap:4px 18px;list-style:none;margin:0;padding:0}
.bar nav a{color:var(--soft);text-decoration:none;padding:2px 0;border-bottom:2px solid transparent}.bar nav a[aria-current]{color:var(--ink);font-weight:600;border-color:var(--link)}
.bar form{margin-left:auto;display:flex;gap:6px}.bar p{margin:0;font-size:13px;flex:none;max-width:100%}
main{display:block;max-width:1228px;padding:12px 24px 24px}footer{max-width:1228px;padding:0 24px 24px;font-size:13px}
main h1{font-size:22px;margin:6px 0 10px}main h2{font-size:16px;border:0;padding:0;margin:0 0 6px}
input,textarea,button{font:inherit;color:inherit;background:var(--d-bg);border:1px solid var(--grey,var(--soft));border-radius:8px;padding:5px 10px;min-width:0;max-width:100%}
button{cursor:pointer;background:var(--d-card)}button.go{background:var(--link);border-color:var(--link);color:var(--d-bg);font-weight:600}
input:focus-visible,textarea:focus-visible,button:focus-visible,summary:focus-visible,main:focus-visible{outline:3px solid var(--two);outline-offset:2px}
input[type=checkbox]{width:1.1em;height:1.1em;vertical-align:-.15em;margin:0 .4em 0 0}
.state{border-left:6px solid var(--line);border-radius:10px;padding:12px 18px;margin:0 0 14px;background:var(--d-card)}
.state h1{font-size:19px;margin:0}.state p{margin:4px 0 0}.state ul{margin:6px 0 0;padding-left:1.2em}
.state.is-good{border-color:var(--good);background:var(--d-goodbg)}.state.is-good h1{color:var(--good)}
.state.is-warn{border-color:var(--d-warn);background:var(--d-warnbg)}.state.is-warn h1{color:var(--d-warn)}
.state.is-bad{border-color:var(--d-bad);background:var(--d-badbg)}.state.is-bad h1{color:var(--d-bad)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,170px),1fr));gap:12px;margin:0 0 14px;padding:0}
.tile{display:block;background:var(--d-card);border:1px solid var(--line);border-radius:10px;padding:9px 14px;min-width:0}
.tile dt,.tile small{color:var(--soft);font-size:13px}.tile dd{margin:0}.tile b{display:block;font-size:20px;font-variant-numeric:tabular-nums}.tile small{display:block}
.columns{display:grid;grid-template-columns:minmax(0,2fr) minmax(0,1fr);gap:14px;align-items:start}
.panel{background:var(--d-card);border:1px solid var(--line);border-radius:10px;padding:12px 16px;margin:0 0 14px;min-width:0}
.panel table{width:100%}.panel tr:last-child>*{border-bottom:0}.panel dl{margin:0}.panel .wide{margin:0}
.warn{color:var(--d-warn);font-weight:600}.bad{color:var(--d-bad)}
progress{width:110px;accent-color:var(--link);vertical-align:middle}
details{margin:6px 0}summary{cursor:pointer;color:var(--link)}details form{margin:8px 0 2px}
.decide label{display:block;margin:0 0 6px}.decide textarea{display:block;width:100%;max-width:40rem;margin-top:2px}.decide p{margin:0 0 6px}
.decide button{margin:0 8px 0 0}
.spoken{position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden;white-space:nowrap}
.timeline{list-style:none;margin:0;padding:0}.timeline li{display:grid;grid-template-columns:9.5rem 1fr;gap:12px;padding:4px 0;border-bottom:1px solid var(--line)}.timeline li:last-child{border:0}
body.is-stale main{opacity:.75}#live.is-lost{color:var(--d-bad);font-weight:600}
ol.cards .card{background:var(--d-card)}
@media (max-width:820px){.columns{grid-template-columns:minmax(0,1fr)}.columns>:last-child{order:-1}}
@media (max-width:30rem){td:empty{display:none}body>header,main,footer{padding-left:14px;padding-right:14px}.bar form{margin-left:0;width:100%}.bar form input{flex:1}.tiles{grid-template-columns:repeat(2,minmax(0,1fr))}.tile b{font-size:17px}.timeline li{grid-template-columns:1fr;gap:0}.panel tr{border-bottom:1px solid var(--line)}}
@media print{body>header,.decide{display:none}}
`;
