/** Answers of the oauth2 filter to requests that do not pass, and what logs say of them. */
import type { LocalReply } from '../../../stream/filter.ts';
import type { OAuth2Config } from './config.ts';
import { flowDeletions } from './cookie-texts.ts';

const BLANKS = /\s/g;

/** Why a request of somebody who is not logged in passes all the same, or is not sent to log in. */
export interface AwayDetails {
  readonly allowed: string;
  readonly denied: string;
}

const FAILED = 'Failed to refresh the access token';
const NOT_AUTHORIZED = 'Unauthorized';
const ALLOWED = 'and forwarding as unauthorized because OAuth failure is allowed';
const DENIED = 'and redirecting to OAuth server is not allowed';

export const NOT_REFRESHED: AwayDetails = {
  allowed: `${FAILED}, ${ALLOWED}`,
  denied: `${FAILED}, ${DENIED}`,
};

export function notLoggedIn(path: string): AwayDetails {
  return {
    allowed: `${NOT_AUTHORIZED}, ${ALLOWED}: ${path}`,
    denied: `${NOT_AUTHORIZED}, ${DENIED}: ${path}`,
  };
}

/** `flowId`: the login that is over; empty for none. */
export function refusal(config: OAuth2Config, details: string, flowId: string): LocalReply {
  const over = flowId === '' ? [] : flowDeletions(config.options.cookies, flowId);
  config.count('oauth_failure');
  return {
    status: 401,
    body: 'OAuth flow failed.',
    details: details.replace(BLANKS, '_'),
    modifyHeaders: (answer) => {
      for (const cookie of over) answer.add('set-cookie', cookie);
    },
  };
}

export function unavailable(config: OAuth2Config, details: string): LocalReply {
  config.count('oauth_failure');
  return { status: 503, body: 'Service Unavailable', details: details.replace(BLANKS, '_') };
}
