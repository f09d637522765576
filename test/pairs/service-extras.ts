import type { HttpRequest } from '../../src/core/service/transport.ts';
import { stranger } from '../simulation/list-flaw.ts';
import { envelope } from '../simulation/replies.ts';
import type { PostAnswer, Service } from '../simulation/service.ts';
import type { Town } from '../simulation/town.ts';
import type { Weather } from '../simulation/weather.ts';
import { nameOf } from './files.ts';
import type { Switches } from './stage.ts';

/** The service with the questions before payment, which are no part of the interface document, and another halting code. */
export function extraAnswers(service: Service, switches: Switches, weather: Weather): Service {
  const say = (data: unknown): PostAnswer => {
    const reply = envelope(weather.startsAt, 200, { success: true, status: '00', message: 'ok', data });
    return { kind: 'reply', reply, delayMs: 20 };
  };
  return {
    ...service,
    question(request: HttpRequest, fault, account) {
      if (request.path.endsWith('/wallet_balance'))
        return say(JSON.parse(`{${switches.balance ?? '"NGN":"90000000.00"'}}`));
      if (request.path.endsWith('/account_name')) {
        const [account = ''] = /\b1\d{9}\b/.exec(JSON.stringify(request)) ?? [];
        return say(switches.holder ?? nameOf(account));
      }
      return service.question(request, fault, account);
    },
    post(request, fault, account) {
      const answer = service.post(request, fault, account);
      if (fault !== 'halt 10' || !switches.codeIs22 || answer.kind !== 'reply') return answer;
      const text = answer.reply.text.replace('"status":"10"', '"status":"22"');
      return { ...answer, reply: { ...answer.reply, text } };
    },
  };
}

/** Somebody else's transfer, which no payout of the ledger explains. */
export function addStranger({ service, world }: Town): void {
  const entry = service.book.add(stranger, { account: 'home', at: world.now(), shownFrom: world.now() });
  entry.record.status = 'success';
}
