/** The answer that a processor gives in the upstream's place. */
import type { LocalReply } from '../../../stream/filter.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import type { HeaderMutations } from './header-mutations.ts';
import type { ImmediateAnswer } from './messages.ts';

const STATUS_MIN = 200;
const STATUS_MAX = 999;
const STATUS_BY_DEFAULT = 200;

export function immediateReply(answer: ImmediateAnswer, mutations: HeaderMutations): LocalReply {
  const { status, headers, grpcStatus } = answer;
  const contentType = headers?.set.findLast(({ name }) => name === 'content-type')?.value;
  return {
    status: status >= STATUS_MIN && status <= STATUS_MAX ? status : STATUS_BY_DEFAULT,
    body: Buffer.from(answer.body),
    details: answer.details.replaceAll(' ', '_'),
    grpcStatus,
    contentType,
    modifyHeaders: (map) => {
      if (headers !== undefined) change(map, answer, mutations);
    },
  };
}

/** What may not be is left out, and the rest of the changes with it. */
function change(map: HeaderMap, { headers }: ImmediateAnswer, mutations: HeaderMutations): void {
  if (headers === undefined) return;
  const set = headers.set.filter(({ name }) => !name.startsWith(':') && name !== 'content-length');
  mutations.apply(map, { ...headers, set }, false);
}
