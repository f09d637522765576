/*
 * One payout, two senders, one service and people: the money protocol (docs/protocol.md) as a model for spin.
 * README.md says what it covers. A planted fault is a name to define: -DFAULT_READY and so on.
 */
#define SENDERS 2
#define MOST 3
#ifndef ATTEMPTS
#define ATTEMPTS 2
#endif
#ifndef ORDERS
#define ORDERS 1
#endif
#ifndef CRASHES
#define CRASHES 1
#endif

mtype:payout = { READY, HELD, SENDING, PENDING, SUCCESS, FAILED, REFUSED, UNKNOWN };
mtype:outcome = { NONE, FLIGHT, ACCEPTED, DENIED, TURNED, NOTSENT, LOST };
mtype:transfer = { ABSENT, HIDDEN, OPEN, PAID, OVER };

/* The ledger. Every change is one transaction: a d_step. */
mtype:payout state = READY;
mtype:outcome out[MOST] = NONE;
byte owner[MOST];
byte begun;
bool hold;             /* the batch is held */
bool ended[SENDERS];   /* the worker's row was ended by another (P3) */

/* The service: a transfer an attempt at most. HIDDEN is taken and not shown yet. */
mtype:transfer transfer[MOST] = ABSENT;
chan wire = [ATTEMPTS] of { byte };
chan answer[SENDERS] = [ATTEMPTS] of { byte, mtype:outcome };

/* What no part of the system reads: only the rules below do. */
byte orders;           /* how often it was ordered to be sent again */
bool ordered;          /* it waits by such an order */
byte posts[MOST];
byte crashes;
bool alive[SENDERS] = true;

#define mayBeTaken(a) (out[a] == FLIGHT || out[a] == ACCEPTED || out[a] == LOST)
#define isShown(a)    (transfer[a] == OPEN || transfer[a] == PAID || transfer[a] == OVER)
#define anyShown      (isShown(0) || isShown(1) || isShown(2))
#define anyStands     (transfer[0] == OPEN || transfer[0] == PAID || transfer[1] == OPEN || transfer[1] == PAID || transfer[2] == OPEN || transfer[2] == PAID)
#define anyPaid       (transfer[0] == PAID || transfer[1] == PAID || transfer[2] == PAID)
#define shownCount    (isShown(0) + isShown(1) + isShown(2))
#define takenPerhaps  (mayBeTaken(0) + mayBeTaken(1) + mayBeTaken(2))
#define paidCount     ((transfer[0] == PAID) + (transfer[1] == PAID) + (transfer[2] == PAID))
#define underWay      (out[0] == FLIGHT || out[1] == FLIGHT || out[2] == FLIGHT)

/* P4: compare-and-set on the attempt; then what `transition` makes of an outcome. */
inline record(a, o) {
  d_step {
    if
    :: (out[a] == FLIGHT || (out[a] == LOST && o != LOST)) ->
      out[a] = o;
      if
      :: o == ACCEPTED ->
        if
        :: (state == SENDING || state == UNKNOWN || state == READY || state == HELD) -> state = PENDING; ordered = false
        :: else
        fi
      :: (o != ACCEPTED && underWay) -> skip
      :: (o == DENIED && !underWay && (state == SENDING || state == UNKNOWN)) ->
#ifdef FAULT_FIRST
        state = REFUSED
#else
        state = (takenPerhaps > 0 -> UNKNOWN : REFUSED)
#endif
      :: ((o == TURNED || o == NOTSENT) && !underWay && (state == SENDING || state == UNKNOWN)) ->
        state = (takenPerhaps > 0 -> UNKNOWN : READY)
      :: (o == LOST && !underWay && state == SENDING) -> state = UNKNOWN
      :: else
      fi
    :: else
    fi;
    skip
  }
}

/* P14: details show a transfer; P17: it has not failed while another may have been taken. */
inline heard() {
  d_step {
    if
    :: anyPaid ->
      if
      :: (state != SUCCESS && state != FAILED) -> state = SUCCESS; ordered = false
      :: else
      fi
    :: (!anyPaid && anyStands) ->
      if
      :: (state != SUCCESS && state != FAILED && state != PENDING) -> state = PENDING; ordered = false
      :: else
      fi
    :: (!anyPaid && !anyStands && anyShown && state != SUCCESS && state != FAILED) ->
      if
      :: (takenPerhaps > 1 && shownCount < takenPerhaps) ->
        if
        :: (state != SENDING) -> state = UNKNOWN; ordered = false
        :: else
        fi
      :: else -> state = FAILED; ordered = false
      fi
    :: else
    fi;
    skip
  }
}

/* P3: a dead worker's lock is free, or its lease ran out: its claims become unknown, never ready. */
inline takeOver(w) {
  d_step {
    ended[w] = true;
    i = 0;
    do
    :: i < MOST ->
      if
      :: (out[i] == FLIGHT && owner[i] == w) ->
        out[i] = LOST;
        if
#ifdef FAULT_READY
        :: (state == SENDING) -> state = READY
#else
        :: (state == SENDING && !underWay) -> state = UNKNOWN
#endif
        :: else
        fi
      :: else
      fi;
      i++
    :: else -> break
    od;
    i = 0
  }
}

proctype Sender(byte me) {
  byte a, b, i, asked;
  mtype:outcome o;
  bool cleared, showed;
start:
  /* A process that begins takes over what its predecessor left. */
  if
  :: out[0] == FLIGHT || out[1] == FLIGHT || out[2] == FLIGHT || ended[me] || !alive[me] ->
    takeOver(me)
  :: else
  fi;
  d_step { ended[me] = false; alive[me] = true; a = 0; b = 0; cleared = false; showed = false; asked = 0 }
end:
  do
  /* A crash loses what the process knew: the answers on their way to it too. */
  :: (crashes < CRASHES) -> d_step { crashes++; alive[me] = false };
    do
    :: answer[me] ? _, _
    :: empty(answer[me]) -> break
    od;
    goto start

  /* An answer that comes late is recorded all the same. */
  :: answer[me] ? b, o -> record(b, o); b = 0; o = 0

  /* The other one's lock is free, or its lease ran out while it was stopped. */
  :: (!ended[1 - me] && (!alive[1 - me] || (underWay && crashes < CRASHES))) ->
    if
    :: alive[1 - me] -> crashes++   /* a stop is counted with the crashes */
    :: else
    fi;
    takeOver(1 - me)

  /* P31: what was sent before needs an answer of the service first, about as many attempts as there are. */
  :: d_step { (state == READY && begun < ATTEMPTS) -> showed = anyShown; asked = begun; cleared = (begun == 0) };
#ifdef FAULT_LOOKUP
    cleared = true;
#else
    if
    :: (begun > 0) ->
      if
      :: anyShown -> heard()
      :: (!anyShown) -> cleared = true
      :: true -> skip                     /* no answer */
      fi
    :: else
    fi;
#endif
    /* P1, P2: the claim checks everything again in its transaction. */
#ifdef FAULT_STALE
    asked = begun;
#endif
    if
#ifdef FAULT_HOLD
    :: atomic { (state == READY && cleared && asked == begun && !ended[me] && begun < ATTEMPTS) ->
#else
    :: atomic { (state == READY && !hold && cleared && asked == begun && !ended[me] && begun < ATTEMPTS) ->
#endif
        assert(!hold);                    /* P21: nothing is claimed once the hold is committed */
        assert(!underWay);                /* P1: one attempt at a time */
        assert(takenPerhaps == 0 || ordered);  /* P4 */
        a = begun; begun++; out[a] = FLIGHT; owner[a] = me; state = SENDING; ordered = false };
      if
      /* P3: fenced immediately before the write. Fence and write are one step: no client can do better. */
#ifdef FAULT_FENCE
      :: atomic { true ->
#else
      :: atomic { !ended[me] && out[a] == FLIGHT ->
#endif
          posts[a]++;
          assert(posts[a] == 1);          /* P1: one POST an intent */
          assert(!(a > 0 && showed));     /* P31: what it was shown before it is not sent again */
          assert(out[a] == FLIGHT);       /* P3: what was taken over is not sent */
          wire ! a }
        if
        :: answer[me] ?? eval(a), o -> record(a, o); o = 0
        :: record(a, LOST)                /* a time-out */
        :: (crashes < CRASHES) -> d_step { crashes++; alive[me] = false }; goto start
        fi
      :: record(a, NOTSENT)               /* it never left: P7 */
      :: (crashes < CRASHES) -> d_step { crashes++; alive[me] = false }; goto start
#ifndef FAULT_FENCE
      :: (ended[me] || out[a] != FLIGHT) -> goto start
#endif
      fi
    :: (state != READY || hold || !cleared || asked != begun || ended[me] || begun == ATTEMPTS) -> skip
    fi;
    d_step { a = 0; cleared = false; showed = false; asked = 0 };
    if
    :: ended[me] -> goto start
    :: else
    fi
  od
}

/* It takes orders when it likes, shows them when it likes, and may refuse what it takes. */
proctype Service() {
  byte a;
end:
  do
  :: wire ? a ->
    if
    :: transfer[a] = HIDDEN; answer[owner[a]] ! a, ACCEPTED
    :: transfer[a] = OPEN; answer[owner[a]] ! a, ACCEPTED
    :: transfer[a] = HIDDEN; answer[owner[a]] ! a, DENIED      /* it refuses what it takes */
    :: transfer[a] = OPEN; answer[owner[a]] ! a, DENIED
    :: answer[owner[a]] ! a, DENIED
    :: transfer[a] = OPEN; answer[owner[a]] ! a, TURNED        /* an edge forwarded what it turned away: shown at once */
    :: answer[owner[a]] ! a, TURNED
    :: transfer[a] = HIDDEN                                    /* no answer */
    :: transfer[a] = OPEN
    :: skip                                                    /* lost */
    fi;
    a = 0
  :: atomic { transfer[0] == HIDDEN -> transfer[0] = OPEN }
  :: atomic { transfer[1] == HIDDEN -> transfer[1] = OPEN }
  :: atomic { transfer[2] == HIDDEN -> transfer[2] = OPEN }
  :: atomic { transfer[0] == OPEN -> if :: transfer[0] = PAID :: transfer[0] = OVER fi }
  :: atomic { transfer[1] == OPEN -> if :: transfer[1] = PAID :: transfer[1] = OVER fi }
  :: atomic { transfer[2] == OPEN -> if :: transfer[2] = PAID :: transfer[2] = OVER fi }
  od
}

/* Look-ups and lists that nobody needs for a decision. */
proctype Watch() {
end:
  do
  :: anyShown -> heard()
  :: timeout -> assert(state != SENDING && !underWay); break   /* P3, P19: nothing stays on its way for ever */
  od
}

proctype Person() {
end:
  do
  :: d_step { !hold -> hold = true; if :: state == READY -> state = HELD :: else fi }
  :: d_step { hold -> hold = false; if :: state == HELD -> state = READY :: else fi }
  /* P20: again only what is unknown, and never beside an attempt under way. */
  :: d_step { state == UNKNOWN && !underWay && orders < ORDERS && begun < ATTEMPTS ->
      orders++; ordered = true; state = (hold -> HELD : READY) }
  od
}

/* P17: none of ours that may have been taken can still be paid. */
#define canBePaid(a) (mayBeTaken(a) && (transfer[a] == HIDDEN || transfer[a] == OPEN || transfer[a] == PAID))
#define refusalIsTrue(a) !((out[a] == DENIED || out[a] == TURNED) && transfer[a] != ABSENT)

#define paidAsOrdered (paidCount <= 1 + orders)
#define refusedIsProven (state != REFUSED || takenPerhaps == 0)
#define failedIsOver (state != FAILED || !(refusalIsTrue(0) && refusalIsTrue(1) && refusalIsTrue(2)) || !(canBePaid(0) || canBePaid(1) || canBePaid(2)))
#define paidIsPaid (state != SUCCESS || anyPaid)
#define sendingIsUnderWay (state != SENDING || underWay)

ltl rules { [] (paidAsOrdered && refusedIsProven && failedIsOver && paidIsPaid && sendingIsUnderWay) }

init {
  atomic { run Sender(0); run Sender(1); run Service(); run Watch(); run Person() }
}
