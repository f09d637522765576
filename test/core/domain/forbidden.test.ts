import { expect, it } from 'vitest';
import { forbiddenPlace } from '../../../src/core/domain/forbidden.ts';

const failed = (more: object): Error => Object.assign(new Error('no'), more);

it('names the place that may not be used, and why', () => {
  expect(forbiddenPlace(failed({ code: 'EACCES', path: '/a' }))).toEqual({
    ...{ place: '/a', why: 'permission denied, EACCES' },
  });
  expect(forbiddenPlace(failed({ code: 'EROFS', path: '/a', dest: '/b' }))).toEqual({
    ...{ place: '/b', why: 'the file system is read-only, EROFS' },
  });
});

it('is silent about every other error', () => {
  const others = [{ code: 'ENOENT', path: '/a' }, { code: 'EACCES' }, { path: '/a' }, {}];
  expect(others.map((more) => forbiddenPlace(failed(more)))).toEqual(others.map(() => null));
  expect(forbiddenPlace({ code: 'EACCES', path: '/a' })).toBeNull();
  expect(forbiddenPlace(null)).toBeNull();
});
