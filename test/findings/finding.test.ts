import { describe, expect, it } from 'vitest';
import { isShown, plainFinding } from '../../src/findings/finding.ts';
import { type FindingFace, type FindingKind, findingRules } from '../../src/findings/kinds.ts';

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

  it('is shown somewhere, whatever its kind', () => {
    expect(Object.entries(findingRules).filter(([, { faces }]) => Object.keys(faces).length === 0)).toEqual(
      [],
    );
  });
});
