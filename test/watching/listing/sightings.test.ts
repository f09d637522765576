import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { createSightings } from '../../../src/watching/listing/sightings.ts';

const row = (fields: string, createdAt = 1) => ({ fields, createdAt });

it('P28: tells new, changed and same transfers apart, over passes and however many they are', () => {
  const sightings = createSightings();
  const many = 20_000;
  for (let n = 0; n < many; n++) expect(sightings.see(`${n}`, row('pending'), 1).content).toBe('new');
  expect(sightings.see('7', row('pending'), 1)).toMatchObject({ content: 'same', before: 1 });
  for (let n = 1; n < many; n++) {
    const fields = n % 2 === 0 ? 'pending' : 'success';
    expect(sightings.see(`${n}`, row(fields), 2)).toMatchObject({
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

it('the print of a row is that of all its fields, whenever and as whatever it is seen', () => {
  const sightings = createSightings();
  const { print } = sightings.see('a', row('pending'), 1);
  expect(Number.isSafeInteger(print)).toBe(true);
  expect(sightings.see('a', row('pending', 9), 2).print).toBe(print);
  expect(sightings.see('b', row('success'), 1).print).not.toBe(print);
  // Ledgers hold it: with another one every row would be written anew once.
  expect(createSightings().see('c', row('R-1|NGN|10.00|success'), 1).print).toBe(2_909_766_948_251_429);
});

it('room made for what a list says it has changes nothing of what is known', () => {
  const sightings = createSightings();
  for (let n = 0; n < 100; n++) sightings.see(`${n}`, row('pending', n), 1);
  sightings.expect(50_000);
  sightings.expect(10);
  for (let n = 0; n < 60_000; n++)
    expect(sightings.see(`${n}`, row('pending', n), 2).content).toBe(n < 100 ? 'same' : 'new');
  sightings.see('7', row('success', 7), 2);
  sightings.expect(1e15);
  expect([sightings.size(), sightings.changedAt(7), sightings.changedAt(8)]).toEqual([60_000, 1, 0]);
  expect([sightings.createdAt(59_999), sightings.lastPass('59999')]).toEqual([59_999, 2]);
});

it('gives back the memory of a million transfers at once', () => {
  // In a process of its own, where no other test leaves buffers to be collected meanwhile.
  const script = `import { createSightings } from '${new URL('../../../src/watching/listing/sightings.ts', import.meta.url).href}';
    const held = () => process.memoryUsage().external;
    const before = held();
    const sightings = createSightings();
    sightings.expect(1_000_000);
    const full = held() - before;
    sightings.release();
    console.log(JSON.stringify([full, held() - before]));`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
  });
  const [full, after] = JSON.parse(stdout);
  expect(full).toBeGreaterThan(30e6);
  expect(after).toBeLessThan(1e6);
});
