/** Asks the token server once, for one request. */
import { HttpCall, type HttpResponse } from '../../../services/http-call.ts';
import type { Crypto, OAuth2Config } from './config.ts';
import { ANSWER_BYTES_MAX, readTokenAnswer, type Tokens } from '../../common/token-answer.ts';
import { type Grant, makeTokenRequest } from './token-request.ts';

/** The limit of an answer that is shown in details. */
const SHOWN_BYTES_MAX = 1024;
const TOKEN_MEMBER = /("(?:access_?token|id_?token|refresh_?token)"\s*:\s*")(?:[^"\\]|\\.)*"?/gi;

export interface TokenFailure {
  /** May be told upstream. */
  readonly reason: string;
  /** Behind the reason, for logs. */
  readonly more: string;
  /** The server refused, or could not be asked: a refresh may be tried by logging in again. */
  readonly isRefusal: boolean;
}

const NO_CREDENTIAL: TokenFailure = {
  reason: 'Failed to obtain client credential',
  more: ': Failed to parse private key PEM for JWT signing',
  isRefusal: false,
};

/** One of the first two is called, once, maybe before `askForTokens` returns. */
export interface TokenWaiter {
  onTokens(tokens: Tokens): void;
  onTokenFailure(failure: TokenFailure): void;
  onException(): void;
}

export interface TokenCall {
  cancel(): void;
}

export function askForTokens(
  config: OAuth2Config,
  crypto: Crypto,
  grant: Grant,
  waiter: TokenWaiter,
): TokenCall | undefined {
  const { context, options, retryPolicy } = config;
  const { tokenEndpoint, defaultExpirySeconds } = options;
  const request = makeTokenRequest(config, crypto, grant, context.loop.clock.wallMs / 1000);
  if (request === undefined) {
    waiter.onTokenFailure(NO_CREDENTIAL);
    return undefined;
  }
  const isRefreshed = grant.kind === 'refresh';
  const call = {
    ...request,
    cluster: tokenEndpoint.cluster,
    timeoutMs: tokenEndpoint.timeoutMs,
    responseBytesMax: ANSWER_BYTES_MAX,
    connection: undefined,
    tellsAddress: true,
    retryPolicy,
  };
  return HttpCall.start(context.services, call, {
    onResponse: (response) => {
      const outcome = outcomeOf(response, defaultExpirySeconds);
      if ('reason' in outcome) waiter.onTokenFailure(outcome);
      else waiter.onTokens({ ...outcome, isRefreshed });
    },
    onFailure: ({ details }) => {
      const isUnknown = details === 'cluster_not_found';
      waiter.onTokenFailure({
        reason: isUnknown
          ? 'Token endpoint cluster not found'
          : 'Failed to get access token due to HTTP request failure',
        more: '',
        isRefusal: !isUnknown,
      });
    },
    onException: () => waiter.onException(),
  });
}

function outcomeOf(
  { headers, body }: HttpResponse,
  defaultSeconds: number,
): Omit<Tokens, 'isRefreshed'> | TokenFailure {
  if (headers.status !== 200) {
    const more = `: response code: ${headers.status}, response body: ${shown(body)}`;
    return { reason: 'Failed to get access token', more, isRefusal: true };
  }
  const answer = readTokenAnswer(body, defaultSeconds);
  if ('tokens' in answer) return answer.tokens;
  const more = `: response body: ${shown(body)}${answer.problem}`;
  return { reason: answer.reason, more, isRefusal: false };
}

/** Without its tokens, which are not for logs. */
function shown(body: Buffer): string {
  const text = body.toString('latin1', 0, Math.min(body.length, SHOWN_BYTES_MAX));
  return text.replace(TOKEN_MEMBER, '$1<hidden>"');
}
