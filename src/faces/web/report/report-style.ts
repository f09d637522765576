/** The look of report.html alone: what to do, the sums of the statement, the pictures. */
export const reportStyle = `.items .item{position:relative}
.items tr:first-child>*{border-bottom:0;padding-top:7px}.items .story td{padding-top:0;padding-bottom:0}
.items{table-layout:fixed;font-size:13.5px}.items .badge{font-size:12px;padding:1px 7px}.items th[scope=row]{padding-left:36px}.items th:nth-child(1){width:25%;padding-left:36px}.items th:nth-child(2){width:17%}.items th:nth-child(3),.items th:nth-child(4){width:10.5%}.items th:nth-child(5){width:10%}.items th:nth-child(6){width:4.5%}
.items .kind{font-weight:600}.about{display:block;font-weight:400;font-size:12.5px;color:var(--soft)}
.about .name{display:inline-block}.money{white-space:nowrap}.items .number{overflow-wrap:anywhere}.items .said{white-space:normal;font-size:12.5px}
.story summary{position:absolute;top:3px;left:4px;width:32px;height:28px;padding:4px 9px;white-space:nowrap;font-size:0}
.story summary::marker{font-size:15px}
.story details[open]{padding:2px 0 12px 22px}.story p{margin:0 0 6px}
.item:last-child .story td{border-bottom:0}
.group{margin:0;padding-left:18px}
.pictures{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,350px),1fr));gap:12px}
@media (min-width:1130px){.pictures.with-1 .lines{grid-column:span 2}.pictures.with-2 .lines{grid-column:span 1}}
figure{margin:0;padding:12px 14px;background:var(--card);border:1px solid var(--line);border-radius:10px;min-width:0}
figcaption h3{margin:0}figcaption p{margin:2px 0 8px;font-size:13px;color:var(--soft)}
figure svg{display:block;width:100%;max-width:480px;height:auto;color:var(--ink);overflow:visible}
figure summary,.lines summary{font-size:13px;margin-top:6px}
.lines{margin:0;padding:0;list-style:none;grid-column:1/-1}.lines li{padding:0 0 5px}.lines details{display:inline-block;margin-left:6px}
.files{display:flex;flex-wrap:wrap;gap:4px 18px;margin:0;padding:0;list-style:none}
@media (max-width:560px){.items,.items .item,.items tr,.items th,.items td{display:block}
.items .item{padding:9px 12px;border-bottom:1px solid var(--line)}.items .item:last-child{border-bottom:0}
.items tr:first-child{display:flex;flex-wrap:wrap;gap:2px 14px}.card.wide .items tr{padding:0;border:0}
.items th[scope=row],.items td:nth-child(2),.items td:last-child{flex-basis:100%}.card.wide .items th[scope=row]{padding-right:34px!important}
.items td:nth-child(2)::before,.items td:last-child::before{content:none}
.items td.none{display:none}.items td{font-size:14px}.items td:nth-child(2) .about{display:inline;margin-left:6px}.items tr:first-child td:last-child{font-weight:600}
.story summary{left:auto;right:4px}
.story details[open]{padding:0}.story dl{grid-template-columns:1fr}dd{margin-bottom:4px}}
@media print{thead th{font-size:9pt}.pictures{align-items:start}.story summary{display:none}.items{font-size:9pt}.items .said,.items .about,.items .badge{font-size:8pt}.items .badge{padding:0 4px}.items tr:first-child>*{padding:4px 8px 4px 0}
.items th[scope=row],.items th:nth-child(1){padding-left:6px;width:22%}.items th:nth-child(2){width:16%}.items th:nth-child(3),.items th:nth-child(4){width:12%}.items th:nth-child(5){width:13%}.items th:nth-child(6){width:6%}.items .number{padding-left:4px}.items tr:first-child>:last-child{padding-right:6px}
.pictures{grid-template-columns:1fr 1fr}.pictures.with-1 .lines{grid-column:span 1}.item{break-inside:avoid}details:not([open]){display:none}
.verdicts{grid-template-columns:repeat(2,1fr)}.made li{font-size:9pt}.tiles{grid-template-columns:repeat(3,1fr);gap:6px}.tile{padding:6px}.tile small{font-size:8pt}.tile strong{font-size:12pt}.verdict strong{font-size:11pt}.verdict{padding:6px 8px;font-size:8.5pt}}
`;
