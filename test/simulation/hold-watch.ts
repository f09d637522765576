import { readReasons } from '../../src/core/ledger/hold-reasons.ts';
import type { HeldBatch, Inspector } from './inspector.ts';
import type { World } from './world.ts';

/**
 * P21: a hold that returned is true until somebody decides otherwise, whatever a release that began before it still does.
 * A release that begins later has seen it. The same is true of a halt that a person ordered (P11).
 */
export type HoldWatch = {
  /** Somebody holds a batch, or everything. The returned function is called when the command has ended well. */
  holding(batch: string | null): () => void;
  /** Somebody lets a batch go, having seen its reasons just now, or everything. */
  releasing(batch: string | null): void;
  isHeld(batch: string): boolean;
  /** Something was committed. */
  committed(): void;
  wentBack(): void;
};

type Held = { returned: boolean; underWay: Set<symbol> };
const everything = '';

export function createHoldWatch({ world, inspector }: { world: World; inspector: Inspector }): HoldWatch {
  const known = new Map<string, Held>();
  const heldOf = (key: string): Held => {
    const held = known.get(key) ?? { returned: false, underWay: new Set() };
    known.set(key, held);
    return held;
  };
  const isHeld = (key: string): boolean => known.get(key)?.returned ?? false;

  function judgeBatch({ id, hold_reasons, ready, unexplained }: HeldBatch): void {
    if (hold_reasons === '[]' && unexplained > 0)
      world.violate('P21: what is held has a reason', `${unexplained} payouts of ${id} have none`);
    if (!isHeld(id)) return;
    if (ready > 0) world.violate('P21: a hold that returned is true', `${ready} payouts of ${id} are ready`);
    if (!readReasons(hold_reasons).some(({ kind }) => kind === 'person'))
      world.violate('P21: a hold that returned is true', `the reasons of ${id} are ${hold_reasons}`);
  }

  return {
    holding(batch) {
      const held = heldOf(batch ?? everything);
      const own = Symbol(batch ?? everything);
      held.underWay.add(own);
      return () => {
        if (held.underWay.delete(own)) held.returned = true;
      };
    },
    releasing(batch) {
      const held = heldOf(batch ?? everything);
      held.underWay.clear();
      held.returned = false;
    },
    isHeld,
    committed() {
      for (const batch of inspector.holds()) judgeBatch(batch);
      if (isHeld(everything) && inspector.rows("select 1 from halts where kind = 'person'").length === 0)
        world.violate('P11: a halt that returned is true', 'a release lifted it that had not seen it');
    },
    wentBack() {
      known.clear();
      for (const { id, hold_reasons } of inspector.holds())
        heldOf(id).returned = readReasons(hold_reasons).some(({ kind }) => kind === 'person');
    },
  };
}
