import { describe, expect, it, onTestFinished } from 'vitest';
import { findingJson, isShown, plainFinding } from '../../src/findings/finding.ts';
import { type FindingFace, type FindingKind, findingRules } from '../../src/findings/kinds.ts';
import { haltFindings } from '../../src/findings/ledger-findings.sql.ts';
import { halt } from '../../src/sending/halts.sql.ts';
import { at, makeLedger } from '../support/ledger.ts';

describe('a finding', () => {
  const cases: [kind: FindingKind, measure: number, faces: FindingFace[]][] = [
    ['webhooks_overdue', 60_000, []],
    ['webhooks_overdue', 60_001, ['ready']],
    ['webhooks_overdue', 300_001, ['ready', 'status', 'doctor']],
    ['certificate_ends', 14, []],
    ['certificate_ends', 13, ['alerts', 'status', 'doctor', 'today']],
    ['disk_full', 64 * 1024 * 1024, []],
    ['disk_full', 64 * 1024 * 1024 - 1, ['ready']],
    ['schedule_failed', 0, ['ready', 'status', 'doctor', 'today']],
    ['schedule_failed', Number.POSITIVE_INFINITY, ['alerts', 'ready', 'status', 'doctor', 'today']],
  ];
  it.each(cases)('%s of measure %d is shown on %j', (kind, measure, faces) => {
    const all: FindingFace[] = ['alerts', 'ready', 'status', 'doctor', 'today'];
    const one = { ...plainFinding(kind), measure };
    expect(all.filter((face) => isShown(one, face))).toEqual(faces);
  });

  it.each(['high', 'medium', 'low'] as const)(
    'of discrepancies of severity %s has that severity',
    (severity) => {
      const one = { ...plainFinding('discrepancy_open', 'paid_twice'), facts: { severity } };
      expect(findingJson(one)).toMatchObject({ kind: 'discrepancy_open', severity });
    },
  );

  it('of a halt says since when', async () => {
    const ledger = await makeLedger();
    onTestFinished(ledger.remove);
    const account = (code: string) => ({ kind: 'account', code, message: '', reference: 'A-1' }) as const;
    await ledger.write((trx) => halt(trx, account('10'), at(1)));
    await ledger.write((trx) => halt(trx, account('13'), at(2)));
    expect(await haltFindings(ledger.db, ledger)).toMatchObject([{ subject: 'account', since: at(1) }]);
    const fallen = { why: 'it fell', advice: null, at: at(3) };
    expect(await haltFindings(ledger.db, { unnotedFall: fallen })).toMatchObject([
      { subject: 'barrier', since: at(3) },
      { subject: 'account', since: at(1) },
    ]);
  });

  it('is shown somewhere, whatever its kind', () => {
    expect(Object.entries(findingRules).filter(([, { faces }]) => Object.keys(faces).length === 0)).toEqual(
      [],
    );
  });
});
