import { parseArgs } from 'node:util';
import { runKilledPosts } from './killed-posts.ts';
import { runStalled } from './stalled.ts';

const { values } = parseArgs({
  options: {
    uploads: { type: 'string', default: '1000' },
    posts: { type: 'string', default: '1000' },
    kills: { type: 'string', default: '40' },
    parallel: { type: 'string', default: '40' },
    settle: { type: 'string', default: '2' },
    seed: { type: 'string', default: '1' },
  },
});

const common = {
  parallel: Number(values.parallel),
  seed: Number(values.seed),
  patienceMs: 90_000,
  say: (line: string) => void process.stderr.write(`${line}\n`),
};

function print(title: string, figures: Record<string, number>): void {
  console.log(title);
  for (const [what, value] of Object.entries(figures)) console.log(`  ${what.padEnd(12)} ${value}`);
}

if (values.uploads !== '0') {
  const settleSeconds = Number(values.settle);
  const figures = await runStalled({ ...common, count: Number(values.uploads), settleSeconds });
  print('files of the inbox that stall', figures);
  if (figures.fromPartial + figures.paidTwice + figures.missing > 0) process.exitCode = 1;
}
if (values.posts !== '0') {
  const serveKills = Number(values.kills);
  const figures = await runKilledPosts({ ...common, count: Number(values.posts), serveKills });
  print('files posted over connections that break', figures);
  if (figures.half + figures.twice + figures.missing > 0) process.exitCode = 1;
}
