import { pageStyle } from '../kit/style.ts';

/** The look of the dashboard: that of report.html, with what only a page that decides has. */
export const dashboardStyle = `${pageStyle}
body{font-size:15px}
body>header{display:block;max-width:none;padding:8px 24px;background:var(--card);border-bottom:1px solid var(--line)}
.bar{display:flex;flex-wrap:wrap;gap:4px 12px;align-items:center;max-width:1180px;margin:0 auto;font-size:14px}
.bar nav ul{gap:4px 10px}
.bar nav a{color:var(--soft);text-decoration:none;padding:2px 0;border-bottom:2px solid transparent}.bar nav a[aria-current]{color:var(--ink);font-weight:600;border-color:var(--link)}
.bar form{margin-left:auto;display:flex;gap:6px}.bar form input{width:7.5rem}.bar p{margin:0;font-size:13px;flex:none;max-width:100%}
main{padding:12px 24px 24px}
main h1{font-size:22px;margin:6px 0 10px}main h2{font-size:16px;margin:0 0 6px}
button{cursor:pointer;background:var(--card)}button.go{background:var(--link);border-color:var(--link);color:var(--bg);font-weight:600}
input[type=checkbox]{width:1.1em;height:1.1em;vertical-align:-.15em;margin:0 .4em 0 0}
.state{border-left:6px solid var(--line);border-radius:10px;padding:12px 18px;margin:0 0 14px;background:var(--card)}
.state h1{font-size:19px;margin:0}.state p{margin:4px 0 0}.state ul{margin:6px 0 0;padding-left:1.2em}
.state.is-good{border-color:var(--good);background:var(--good-bg)}.state.is-good h1{color:var(--good)}
.state.is-warn{border-color:var(--warn);background:var(--warn-bg)}.state.is-warn h1{color:var(--warn)}
.state.is-bad{border-color:var(--bad);background:var(--bad-bg)}.state.is-bad h1{color:var(--bad)}
button.link{border:0;background:none;color:var(--link);padding:0;text-decoration:underline;text-underline-offset:.15em}
.tiles{margin:0 0 14px}
.columns{display:grid;grid-template-columns:minmax(0,2fr) minmax(0,1fr);gap:14px;align-items:start}
.panel{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:12px 16px;margin:0 0 14px;min-width:0}
.panel tr:last-child>*{border-bottom:0}.panel>ul{margin:4px 0;padding-left:1.3em}.panel .wide:not(:first-child) caption{padding-top:12px}
.warn{color:var(--warn);font-weight:600}
th[scope=row] a:not(.whole){overflow-wrap:anywhere}
progress{width:84px;accent-color:var(--link);vertical-align:middle}
details{margin:6px 0}details form{margin:8px 0 2px}
.panel>.decide,.panel>dl+.decide{margin-top:10px}main>.decide{margin:0 0 14px}.ended{white-space:nowrap}.tile a b{display:inline}
.decide label{display:block;margin:0 0 6px}.decide textarea{display:block;width:100%;max-width:40rem;margin-top:2px}.decide p{margin:0 0 6px}
label>input:not([type=checkbox]):not([type=hidden]){display:block;margin-top:2px}.decide button{margin:0 8px 4px 0}
.filters{display:flex;flex-wrap:wrap;gap:8px 12px;align-items:end;margin:0 0 14px}.filters label{display:grid;gap:2px;font-size:13px;color:var(--soft)}.filters input,.filters select{color:var(--ink)}.filters input,.filters select,.filters button{height:2.3rem;margin:0}.filters>a{line-height:2.3rem}
.cards{list-style:none;margin:0 0 14px;padding:0;display:grid;gap:8px}.cards .card{padding:10px 16px}.cards h2{font-size:16px;margin:0 0 2px}.cards p{margin:0 0 2px;max-width:none}.cards details{margin:2px 0 0}
.narrow{margin:0 0 12px}.narrow a[aria-current]{font-weight:600;color:var(--ink)}
.spoken{position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden;white-space:nowrap}
#decide{scroll-margin-top:60px}.jump{position:sticky;top:0;z-index:2;margin:0 0 10px;padding:6px 0;background:var(--bg);border-bottom:1px solid var(--line);max-width:none}.timeline{list-style:none;margin:0;padding:0}.timeline li{display:grid;grid-template-columns:9.5rem 1fr;gap:12px;padding:4px 0;border-bottom:1px solid var(--line)}.timeline li:last-child{border:0}
body.is-stale main{opacity:.75}#live.is-lost{color:var(--bad);font-weight:600}
.drop{border:2px dashed var(--soft);border-radius:10px;padding:22px;text-align:center;background:var(--card)}.drop.is-over{border-color:var(--link);background:var(--calm-bg)}
.drop label>input[type=file]{margin:8px auto 12px}.drop p{margin:8px auto}.drop progress{width:min(100%,24rem)}
a.go,a.btn,.drop button,.orders button{display:inline-block}a.go,a.btn{border:1px solid var(--line);border-radius:8px;padding:4px 10px;text-decoration:none;white-space:nowrap}a.go{background:var(--link);border-color:var(--link);color:var(--bg);font-weight:600}
.about{list-style:none;margin:2px 0 0;padding:0;display:flex;flex-wrap:wrap;gap:2px 18px;font-size:14px;color:var(--soft)}summary{cursor:pointer}
.orders{display:flex;flex-wrap:wrap;gap:4px 14px;align-items:end;margin:8px 0 0}.orders form{margin:0}
.mend input{width:100%;min-width:8rem;border-color:var(--bad);background:var(--bad-bg)}.mend .wide{margin-bottom:8px}
@media (min-width:821px){th[scope=row]:has(a){min-width:10rem}}
@media (min-width:1100px){main>.panel th:has(>a[href^="/batches/"]),main>.panel td:not(.act):has(>a[href^="/batches/"]){min-width:15rem}main .wide{overflow:visible}main .wide thead th{position:sticky;top:0;background:var(--card);z-index:1}main>.jump~.panel .wide thead th{top:45px}}
@media (max-width:820px){.columns{grid-template-columns:minmax(0,1fr)}}
@media (max-width:30rem){td:empty{display:none}.bar form{margin-left:0;width:100%}.bar form input{flex:1}.tile b{font-size:17px}.timeline li{grid-template-columns:1fr;gap:0}}
@media (max-width:560px){body>header,main{padding-left:14px;padding-right:14px}.wide td>div{display:inline-block;margin-right:.6em}}
@media screen and (min-width:561px){.payee{min-width:10rem}th:has(>a[href^="/batches/"]),td:not(.act):has(>a[href^="/batches/"]){min-width:13rem}}
@media print{progress{display:none}.ended{white-space:normal}.about{font-size:9pt}body>header,.decide,button,.go,a.go,a.btn,.filters,.screen,details,input[type=checkbox]{display:none}.mend .decide{display:block}.mend input{border:0;padding:0;min-width:4.5rem}.paid th:last-child,.paid td:last-child{display:none}body{font-size:9pt}main{padding:0}main h1{font-size:16pt}main h2{font-size:11pt}.panel{border:0;padding:0;margin:0 0 8pt}.panel th[scope=col]{overflow-wrap:normal}th[scope=row]:has(a){min-width:5rem}th:has(>a[href^="/batches/"]),td:has(>a[href^="/batches/"]){min-width:8.5rem}td time{white-space:normal}.panel .number{padding-right:10px}}
`;
