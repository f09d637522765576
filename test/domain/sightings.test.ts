import { expect, it } from 'vitest';
import { createSightings } from '../../src/domain/sightings.ts';

const row = (fields: string, createdAt = 1) => ({ fields, createdAt });

it('P28: tells new, changed and same transfers apart, over passes and however many they are', () => {
  const sightings = createSightings();
  const many = 20_000;
  for (let n = 0; n < many; n++) expect(sightings.see(`${n}`, row('pending'), 1).content).toBe('new');
  expect(sightings.see('7', row('pending'), 1)).toMatchObject({ content: 'same', before: 1 });
  for (let n = 1; n < many; n++) {
    const fields = n % 2 === 0 ? 'pending' : 'success';
    expect(sightings.see(`${n}`, row(fields), 2)).toEqual({
      number: n,
      content: n % 2 === 0 ? 'same' : 'changed',
      before: 1,
    });
  }
  expect(sightings.size()).toBe(many);
  expect(sightings.lastPass('0')).toBe(1);
  expect(sightings.lastPass('1')).toBe(2);
  expect(sightings.lastPass('never')).toBe(0);
  expect(sightings.lastShownBefore(2)).toBe(1);
});

it('P28: a transfer seen again by its number counts for the pass, and keeps when it was created', () => {
  const sightings = createSightings();
  const { number } = sightings.see('a', row('pending', 77), 1);
  expect(sightings.seeAgain(number, 2)).toBe(1);
  expect(sightings.seeAgain(number, 2)).toBe(2);
  expect(sightings.lastPass('a')).toBe(2);
  expect(sightings.createdAt(number)).toBe(77);
});

it('P28: says which transfers were shown otherwise since', () => {
  const sightings = createSightings();
  const a = sightings.see('a', row('pending'), 1).number;
  const b = sightings.see('b', row('pending'), 1).number;
  const then = sightings.changes();
  sightings.see('a', row('pending'), 2);
  sightings.see('b', row('success'), 2);
  expect(sightings.changedAt(a)).toBeLessThanOrEqual(then);
  expect(sightings.changedAt(b)).toBeGreaterThan(then);
});
