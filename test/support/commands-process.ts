import { main } from '../../src/cli.ts';

// The commands of the one argument, an array of arrays as JSON, one after the other; last a line with their exit codes.
const commands: string[][] = JSON.parse(process.argv[2] ?? '');
const codes: number[] = [];
for (const args of commands) codes.push(await main(args));
process.stdout.write(`${JSON.stringify(codes)}\n`);
