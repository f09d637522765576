import { setFlagsFromString } from 'node:v8';

// As src/bin.js does. Later, after the modules are loaded, the young generation would have grown already.
setFlagsFromString('--semi-space-growth-factor=1 --heap-growing-percent=70');
