import { limitHeap } from '../../src/heap.js';

// As src/bin.js does, before the other modules are loaded.
limitHeap();
