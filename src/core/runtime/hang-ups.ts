export type HangUps = {
  /** Resolves at the next SIGHUP, or at once after one that came since the last call ended. */
  next(): Promise<'hung up'>;
  close(): void;
};

/** Listens for SIGHUP from now on: one that comes while another is handled is handled after it. */
export function listenForHangUps(): HangUps {
  let wanted = Promise.withResolvers<'hung up'>();
  const onHangUp = (): void => wanted.resolve('hung up');
  process.on('SIGHUP', onHangUp);
  return {
    async next() {
      const came = await wanted.promise;
      wanted = Promise.withResolvers();
      return came;
    },
    close: () => void process.off('SIGHUP', onHangUp),
  };
}
