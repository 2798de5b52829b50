/** One request of a script to a cluster, and its response as the script gets it. */
import type { LuaState } from '../../../../shared/lua/lua-state.ts';
import { LuaTable } from '../../../../shared/lua/lua-table.ts';
import type { LuaValue } from '../../../../shared/lua/values.ts';
import type { ConnectionInfo } from '../../../net/connection-info.ts';
import { HttpCall, type HttpResponse } from '../../../services/http-call.ts';
import type { CallFailure } from '../../../services/service-client.ts';
import type { FilterContext } from '../../filter-context.ts';
import type { CallWish } from './call-request.ts';

const RESPONSE_BYTES_MAX = 16 * 1024 * 1024;
/** Whose responses nobody waits for, of one script. */
const UNAWAITED_MAX = 1000;

export interface CallOwner {
  onCallResult(values: readonly LuaValue[]): void;
  onException(): void;
}

const UNAWAITED = new WeakMap<LuaState, number>();

export function hasTooManyCalls(state: LuaState): boolean {
  return (UNAWAITED.get(state) ?? 0) >= UNAWAITED_MAX;
}

export class ScriptCall {
  readonly #wish: CallWish;
  readonly #state: LuaState;
  #call: HttpCall | undefined = undefined;

  constructor(wish: CallWish, state: LuaState) {
    this.#wish = wish;
    this.#state = state;
  }

  /** What the script gets, where that is there at once. */
  start(
    context: FilterContext,
    connection: ConnectionInfo,
    owner: CallOwner | undefined,
  ): readonly LuaValue[] | undefined {
    const { cluster, headers, body, timeoutMs, tellsAddress } = this.#wish;
    if (owner === undefined) this.#count(1);
    let atOnce: readonly LuaValue[] | undefined;
    let isStarting = true;
    const finish = (values: readonly LuaValue[]): void => {
      if (owner === undefined) this.#count(-1);
      else if (isStarting) atOnce = values;
      else owner.onCallResult(values);
    };
    const request = {
      cluster,
      headers,
      body,
      timeoutMs,
      connection,
      tellsAddress,
      responseBytesMax: RESPONSE_BYTES_MAX,
    };
    this.#call = HttpCall.start(context.services, request, {
      onResponse: (response) => finish(this.#valuesOf(response)),
      onFailure: (failure) => finish(failureValues(failure)),
      onException: () => {
        if (owner === undefined) this.#count(-1);
        else owner.onException();
      },
    });
    isStarting = false;
    return atOnce;
  }

  cancel(): void {
    this.#call?.cancel();
  }

  #count(change: number): void {
    UNAWAITED.set(this.#state, (UNAWAITED.get(this.#state) ?? 0) + change);
  }

  #valuesOf({ headers, body }: HttpResponse): readonly LuaValue[] {
    const table = new LuaTable();
    table.set(':status', String(headers.status));
    headers.forEach((name, value) => {
      const known = table.get(name);
      if (!this.#wish.keepsRepeated || known === undefined) table.set(name, value);
      else if (known instanceof LuaTable) known.set(known.length + 1, value);
      else table.set(name, LuaTable.of([known, value]));
    });
    return [table, body.toString('latin1')];
  }
}

function failureValues({ status, body }: CallFailure): readonly LuaValue[] {
  const table = new LuaTable();
  table.set(':status', String(status));
  table.set('content-length', String(body.length));
  table.set('content-type', 'text/plain');
  return [table, body];
}
