/** What index.html and the page of a closed month have beside the common look. */
export const indexStyle = `[hidden]{display:none!important}
header,main,footer{max-width:74rem}
table{width:100%}
.soft,small{color:var(--soft)}small{font-size:.85rem}
.hero{border:1px solid var(--line);border-radius:10px;padding:1rem 1.2rem;margin:1rem 0 1.6rem;background:var(--raised)}
.hero h2{border:0;margin:0 0 .2rem;padding:0;font-size:1.35rem}
.banners{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,19rem),1fr));gap:.7rem;margin:.8rem 0;padding:0;list-style:none}
.banner{border-left:.4rem solid var(--none);border-radius:8px;padding:.6rem .9rem;background:var(--none-bg)}
.banner strong{font-size:1.1rem}.banner p{margin:.2rem 0 0}
.banner.is-reconciled{border-color:var(--good);background:var(--good-bg)}.banner.is-exceptions{border-color:var(--bad);background:var(--bad-bg)}
.none{color:var(--none);font-weight:700}td .good,td .bad,td .none{white-space:nowrap}
.go{display:inline-block;font-weight:700;padding:.35rem .9rem;border-radius:8px;border:1px solid var(--link);text-decoration:none}
.go:focus-visible,summary:focus-visible,input:focus-visible,button:focus-visible{outline:3px solid var(--two);outline-offset:2px}
th[scope=row]{font-weight:600}th small,td small{display:block;font-weight:400}
td.number small{white-space:normal}
.menu summary{cursor:pointer;color:var(--link);white-space:nowrap;padding:.1rem 0}
.menu ul{list-style:none;margin:.2rem 0 .4rem;padding:0}.menu li{padding:.15rem 0}
.search{display:flex;flex-wrap:wrap;gap:.5rem .9rem;align-items:center;margin:.6rem 0}
.search input,.search button{font:inherit;color:inherit;background:var(--paper);border:1px solid var(--none);border-radius:6px;padding:.35rem .7rem}
.search input{min-width:0;width:min(100%,20rem)}.search button:disabled{color:var(--soft);border-color:var(--line)}
.search p{margin:0;color:var(--soft)}
.facts{display:grid;grid-template-columns:max-content 1fr;gap:.3rem 1.2rem}.facts dd{margin:0}
[id^=statement-] th[scope=row]{font-weight:400}
.sign{display:grid;grid-template-columns:repeat(3,1fr);gap:1.5rem;margin:3rem 0 1rem}.sign p{border-top:1px solid var(--ink);padding-top:.3rem;margin:0}
@media (max-width:48rem){.facts{grid-template-columns:1fr;gap:0}.facts dd{margin:0 0 .4rem}.sign{grid-template-columns:1fr;gap:3rem}
thead{position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden}.wide{overflow-x:visible}
table,tbody,tr,th,td{display:block;min-width:0;width:auto;overflow-wrap:anywhere;white-space:normal}
.wide tr{border:1px solid var(--line);border-radius:8px;padding:.6rem .8rem;margin:0 0 .7rem;background:var(--raised)}
th,td{border:0;padding:.1rem 0}td .bad,td .none,td .good{white-space:normal}td.number,th.number{text-align:left;padding-left:0;white-space:normal}
td[data-label]{display:grid;grid-template-columns:8rem 1fr;gap:.5rem}td[data-label]::before{content:attr(data-label);color:var(--soft)}}
@media print{.search,.menu,.go{display:none}.banner,.hero{background:none}.wide{margin:.2rem 0}
[data-list] th:last-child,[data-list] td:last-child{display:none}th[scope=col]{white-space:nowrap}
body{line-height:1.35}h2{margin:.8rem 0 .3rem;padding-top:.4rem}[id^=statement-] th,[id^=statement-] td{padding-top:.1rem;padding-bottom:.1rem}.sign{margin:2.2rem 0 .4rem;break-inside:avoid}}
`;
