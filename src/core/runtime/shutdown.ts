/** The part of `process` that this needs. */
export type SignalSource = {
  on(name: 'SIGINT' | 'SIGTERM', listener: () => void): unknown;
  off(name: 'SIGINT' | 'SIGTERM', listener: () => void): unknown;
  exit(code: number): unknown;
};

export type Shutdown = {
  /** Aborted by the first SIGINT or SIGTERM: finish what is in flight, start nothing. */
  signal: AbortSignal;
  /** Stops listening to signals. */
  dispose(): void;
};

/** The first signal asks for a graceful stop; the second exits immediately with code 130. */
export function createShutdown(deps: { process: SignalSource; onStop?: () => void }): Shutdown {
  const stop = new AbortController();
  const onSignal = (): void => {
    if (stop.signal.aborted) deps.process.exit(130);
    stop.abort();
    deps.onStop?.();
  };
  deps.process.on('SIGINT', onSignal);
  deps.process.on('SIGTERM', onSignal);
  return {
    signal: stop.signal,
    dispose() {
      deps.process.off('SIGINT', onSignal);
      deps.process.off('SIGTERM', onSignal);
    },
  };
}
