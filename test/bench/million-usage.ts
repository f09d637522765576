import { appendFileSync } from 'node:fs';

/** Loaded before a command that is measured: adds what the process used to a file, a line of JSON, as it ends. */
process.on('exit', () => {
  const file = process.env.MILLION_USAGE;
  if (!file) return;
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  const used = { cpuSeconds: (userCPUTime + systemCPUTime) / 1e6, peakMb: Math.round(maxRSS / 1024) };
  appendFileSync(file, `${JSON.stringify(used)}\n`);
});
