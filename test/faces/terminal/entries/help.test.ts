import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { entryName } from '../../../../src/faces/terminal/entries/entry.ts';
import { entryGroups } from '../../../../src/faces/terminal/entries/groups.ts';
import { batchOf, csv, row } from '../../../support/cli.ts';
import { makeHome } from '../../../support/decided.ts';

const verbs = entryGroups.flatMap(([, entries]) => entries);

describe('help', () => {
  it('lists every command in its group, one line each, within 80 columns', async () => {
    const home = await makeHome();
    const { code, out } = await home.run(['--help']);
    expect(code).toBe(0);
    expect(out.match(/^[A-Z]\w+:$/gm)).toEqual([
      'Options:',
      'Start:',
      'Pay:',
      'Watch:',
      'Decide:',
      'Operate:',
    ]);
    for (const entry of verbs) {
      expect(entry.summary.length, entryName(entry)).toBeLessThanOrEqual(60);
      expect(out).toMatch(
        new RegExp(`^  ${entryName(entry)} +${entry.summary.replaceAll(/[()]/g, '\\$&')}$`, 'm'),
      );
    }
    expect(out.split('\n').filter((line) => stringWidth(line) > 80)).toEqual([]);
  });

  it('explains each command with an example of it, within 80 columns', async () => {
    const home = await makeHome();
    for (const name of verbs.map(entryName)) {
      const { code, out } = await home.run([name, '--help']);
      expect(code).toBe(0);
      expect(out).toMatch(new RegExp(`Example:\\n  .*counterfoil ${name}\\b`));
      expect(out.split('\n').filter((line) => stringWidth(line) > 80)).toEqual([]);
      expect((await home.run(['help', name])).out).toBe(out);
    }
  });

  it('gives the names of all commands when no command is named', async () => {
    const home = await makeHome();
    const { code, out, err } = await home.run([]);
    expect([code, out]).toEqual([2, '']);
    for (const name of verbs.map(entryName)) expect(err).toMatch(new RegExp(`  ${name}(  |\n)`));
    expect(err.split('\n').filter((line) => stringWidth(line) > 80)).toEqual([]);
  });
});

describe('a mistyped name', () => {
  it('of a command names the nearest', async () => {
    const home = await makeHome();
    for (const [typed, meant] of [
      ['stauts', 'status'],
      ['recon', 'reconcile'],
      ['payout', 'payouts'],
    ] as const) {
      const { code, err } = await home.run([typed]);
      expect([code, err]).toEqual([
        2,
        `counterfoil: there is no command "${typed}"; did you mean ${meant}? counterfoil --help lists them\n`,
      ]);
    }
    expect((await home.run(['xyzzy'])).err).toContain('there is no command "xyzzy": counterfoil --help');
    expect((await home.run(['help', 'shwo'])).err).toContain('did you mean show?');
    expect((await home.run(['STATUS'])).err).toContain('did you mean status?');
    expect((await home.run(['complet'])).err).not.toContain('complete?');
  });

  it('of a batch names the nearest, and a prefix is enough where only one batch has it', async () => {
    const home = await makeHome();
    const batches: string[] = [];
    for (const [name, first] of [
      ['november', 1],
      ['november-bonus', 11],
      ['zar', 21],
    ] as const) {
      const told = await home.json(['submit', '--no-wait', home.put(`${name}.csv`, batchOf(2, first))], 0);
      batches.push(told.batches[0].batch);
    }
    const [november, bonus, zar] = batches;
    const held = await home.json(['hold', 'zar'], 0);
    expect(held.batch).toBe(zar);
    expect((await home.json(['release', zar?.slice(0, -1) ?? ''], 0)).batch).toBe(zar);
    expect((await home.json(['cancel', 'november-b', '--yes'], 0)).batch).toBe(bonus);
    const { files } = await home.json(['report', 'zar'], 0);
    expect(files[0]).toContain(zar);
    const none = await home.run(['retry', '--batch', 'zar']);
    expect(none.err).toContain(`${zar} has no failed payout`);
    expect(await home.json(['discrepancies', '--batch', 'zar'], 0)).toMatchObject({ discrepancies: [] });
    for (const command of [['hold'], ['release'], ['approve'], ['cancel', '--yes'], ['payouts', '--batch']]) {
      const { code, err } = await home.run([...command, 'november']);
      expect([command, code, err]).toEqual([
        command,
        2,
        `counterfoil: "november" begins 2 batches: ${bonus} and ${november}. Name one of them\n`,
      ]);
    }
    const slip = await home.run(['hold', `${november?.slice(0, -1)}x`]);
    expect(slip.err).toContain(`did you mean ${november}?`);
    const file = await home.run(['hold', 'novmeber']);
    expect(file.err).toBe(`counterfoil: no batch "novmeber" in this ledger; did you mean ${november}?\n`);
    const beginning = await home.run(['approve', `novmber-${november?.slice(9, 15)}`]);
    expect(beginning.err).toContain(`did you mean ${november}?`);
    expect((await home.run(['hold', 'october'])).err).toContain('": counterfoil batches lists them'.slice(1));
  });

  it('of a run names the nearest', async () => {
    const home = await makeHome();
    await home.json(['submit', home.put('pay.csv', csv(row(1)))], 0);
    const { run } = await home.json(['reconcile'], 0);
    for (const name of [run.slice(0, -1), run.replace('T', '-')]) {
      const { code, err } = await home.run(['report', name]);
      expect([code, err]).toEqual([2, expect.stringContaining(`; did you mean ${run}?`)]);
    }
  });

  it('of a reference names the nearest', async () => {
    const home = await makeHome();
    const rows = [row(1, { reference: 'SAL-2026-11-006' }), row(2, { reference: 'SAL-2026-11-0091' })];
    await home.json(['submit', '--no-wait', home.put('pay.csv', csv(...rows))], 0);
    for (const args of [
      ['show'],
      ['retry'],
      ['resend'],
      ['cancel', '--yes'],
      ['settle', '--as', 'paid', '--note', 'x'],
    ]) {
      const { code, err } = await home.run([...args, 'SAL-2026-11-0O6']);
      expect([args, code, err]).toEqual([
        args,
        2,
        expect.stringContaining('; did you mean SAL-2026-11-006?'),
      ]);
    }
    expect((await home.run(['show', 'XX-1'])).err).not.toContain('did you mean');
  });
});
