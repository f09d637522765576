import { setFlagsFromString } from 'node:v8';

/** As src/bin.js does for every command, so that what is measured is what runs. */
export function limitHeap(): void {
  setFlagsFromString('--semi-space-growth-factor=1 --heap-growing-percent=70');
}
