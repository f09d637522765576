// Loaded before a command that is measured: adds what the process used to a file, a line of JSON, as it ends. Plain
// JavaScript: to strip types before the command has its compile cache would take a tenth of a second of `status`.
import { appendFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

process.on('exit', () => {
  const file = process.env.MILLION_USAGE;
  // What a thread used is counted with its process.
  if (!file || !isMainThread) return;
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  const used = { cpuSeconds: (userCPUTime + systemCPUTime) / 1e6, peakMb: Math.round(maxRSS / 1024) };
  appendFileSync(file, `${JSON.stringify(used)}\n`);
});
