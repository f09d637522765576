import { search } from './search.ts';

// With DEFECT and put-in.ts preloaded, the search runs over a core with a planted defect.
const [kind = 'honest', attempts = '2', depth = '6'] = process.argv.slice(2);
const found = search(
  { kind: kind === 'lying' ? 'lying' : 'honest', attempts: Number(attempts), forgetful: false },
  Number(depth),
);
process.stdout.write(JSON.stringify({ ...found, sequences: `${found.sequences}` }));
