import { expect, it } from 'vitest';
import { createSightings } from '../../src/domain/sightings.ts';

it('P28: tells new, changed and same transfers apart, over passes and however many they are', () => {
  const sightings = createSightings();
  const many = 20_000;
  for (let n = 0; n < many; n++) expect(sightings.see(`${n}`, 'pending', 1).content).toBe('new');
  expect(sightings.see('7', 'pending', 1)).toEqual({ content: 'same', before: 1 });
  for (let n = 1; n < many; n++) {
    const fields = n % 2 === 0 ? 'pending' : 'success';
    expect(sightings.see(`${n}`, fields, 2)).toEqual({
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
