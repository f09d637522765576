/**
 * Returns an array buffer in memory pages of its own, which the system has back as soon as the buffer is released. An
 * ordinary one of some megabytes may come from the heap of the C library, which keeps what is released there.
 */
export function ownPages(bytes: number): ArrayBuffer {
  // Only a buffer that may change its size is mapped by itself.
  return new ArrayBuffer(bytes, { maxByteLength: bytes });
}

/** Gives a buffer's memory back at once: the next collection of garbage that would do so may be far. */
export function giveBackMemory({ buffer }: { buffer: ArrayBuffer }): void {
  buffer.transfer(0);
}
