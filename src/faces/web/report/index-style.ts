import { tableBlocks } from '../kit/style.ts';

/** What index.html and the page of a closed month have beside the common look. */
export const indexStyle = `small{color:var(--soft);font-size:.85rem}
.hero{border:1px solid var(--line);border-radius:10px;padding:1rem 1.2rem;margin:1rem 0 1.6rem;background:var(--raised)}
.hero h2{margin:0 0 .2rem;font-size:1.35rem}
ul.verdicts{margin:.8rem 0;padding:0;list-style:none}
.none{color:var(--none);font-weight:700}td .good,td .bad,td .none{white-space:nowrap}
.go{display:inline-block;font-weight:700;padding:.35rem .9rem;border-radius:8px;border:1px solid var(--link);text-decoration:none}
th[scope=row]{font-weight:600}th small,td small{display:block;font-weight:400}
td.number small{white-space:normal}
.menu summary{white-space:nowrap;padding:.1rem 0}
.menu ul{list-style:none;margin:.2rem 0 .4rem;padding:0}.menu li{padding:.15rem 0}
.search{display:flex;flex-wrap:wrap;gap:.5rem .9rem;align-items:center;margin:.6rem 0}
.search input{width:min(100%,20rem)}.search button:disabled{color:var(--soft);border-color:var(--line)}
.search p{margin:0;color:var(--soft)}
.facts{gap:.3rem 1.2rem}
[id^=statement-] th[scope=row]{font-weight:400}
@media (max-width:48rem){${tableBlocks}
.facts{grid-template-columns:1fr;gap:0}.facts dd{margin:0 0 .4rem}.sign{grid-template-columns:1fr;gap:3rem}
.wide tr{border:1px solid var(--line);border-radius:8px;padding:.6rem .8rem;margin:0 0 .7rem;background:var(--raised)}
.number,td .bad,td .none,td .good{white-space:normal}
.wide td[data-label]{display:grid;grid-template-columns:8rem minmax(0,1fr);column-gap:.5rem;padding:.1rem 0}.wide td[data-label]::before{content:attr(data-label);grid-row:1/span 9}.wide td[data-label]>*{grid-column:2}}
@media print{.search,.menu,.go{display:none}.verdict,.hero{background:none!important}.wide{margin:.2rem 0}
[data-list] th:last-child,[data-list] td:last-child{display:none}small{font-size:8pt}td:not(.number){min-width:4.5rem}
body{line-height:1.35}h2{margin:.8rem 0 .3rem;padding-top:.4rem}[id^=statement-] th,[id^=statement-] td{padding-top:.1rem;padding-bottom:.1rem}.sign{margin:2.2rem 0 .4rem;break-inside:avoid}}
`;
