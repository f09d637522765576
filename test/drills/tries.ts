import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openHome } from './home.ts';
import { secret } from './try.ts';
import { fields, guesses } from './try-input.ts';
import { headers, paths, posts } from './try-requests.ts';

/** Tries against the dashboard of a real `serve` that test/faces/web/dashboard and test/faces/admin do not make. */
export async function tryDashboard(): Promise<{ lines: string[]; failed: boolean }> {
  const home = await openHome();
  try {
    writeFileSync(join(home.dir, 'data', 'outside.csv'), secret);
    await home.serve.start();
    const tries = [
      ...(await posts(home)),
      ...(await paths(home)),
      ...(await headers(home)),
      ...(await fields(home)),
      ...(await guesses(home)),
    ];
    const halted: { halted: unknown } = JSON.parse((await home.run('status', '--json')).out);
    const lines = tries.map(
      ({ what, answer, isRefused }) => `| ${what} | ${answer.status} | ${isRefused ? 'holds' : 'FAILED'} |`,
    );
    const isUntouched = halted.halted === null;
    const end = `${tries.length} tries; sending was ${isUntouched ? 'never' : 'FAILED'} halted by one`;
    return {
      lines: ['| try | answer | |', ...lines, end],
      failed: !isUntouched || tries.some(({ isRefused }) => !isRefused),
    };
  } finally {
    await home.close();
  }
}
