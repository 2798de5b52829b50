/** Resolves headers to add and to remove, at every level of a route configuration. */
import type { HeaderValueOption as HeaderValueOptionMessage } from '../../../shared/api/generated/envoy/config/core/v3/base.ts';
import type {
  HeaderAppendAction,
  HeaderChanges,
  HeaderValueOption,
} from '../../../shared/resources/routes/headers.ts';
import { checkFormat } from '../access-logs/format.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { asciiLower } from '../matchers/string-matcher.ts';
import type { Scope } from '../scope.ts';

const FIELDS = knownFields<HeaderValueOptionMessage>([
  'header',
  'append',
  'append_action',
  'keep_empty_value',
]);

export interface HeaderChangesMessage {
  readonly request_headers_to_add?: readonly HeaderValueOptionMessage[];
  readonly request_headers_to_remove?: readonly string[];
  readonly response_headers_to_add?: readonly HeaderValueOptionMessage[];
  readonly response_headers_to_remove?: readonly string[];
}

export function resolveHeaderChanges(
  message: HeaderChangesMessage,
  scope: Scope,
): { readonly requestHeaders: HeaderChanges; readonly responseHeaders: HeaderChanges } {
  return {
    requestHeaders: changesOf(message, 'request', scope),
    responseHeaders: changesOf(message, 'response', scope),
  };
}

const NO_CHANGES: HeaderChanges = { add: [], remove: [] };

function changesOf(
  message: HeaderChangesMessage,
  side: 'request' | 'response',
  scope: Scope,
): HeaderChanges {
  const add = message[`${side}_headers_to_add`] ?? [];
  const remove = message[`${side}_headers_to_remove`] ?? [];
  if (add.length === 0 && remove.length === 0) return NO_CHANGES;
  const addPlace = scope.at(`${side}_headers_to_add`);
  const removePlace = scope.at(`${side}_headers_to_remove`);
  return {
    add: add.map((option, index) => resolveHeaderValue(option, addPlace.at(index))),
    remove: remove.map((name, index) => {
      if (isProtected(name)) {
        removePlace.at(index).error('conflict', ':-prefixed or host headers may not be removed');
      }
      return asciiLower(name);
    }),
  };
}

export function resolveHeaderValue(
  message: HeaderValueOptionMessage,
  scope: Scope,
): HeaderValueOption {
  refuseOtherFields(message, FIELDS, scope);
  const { key = '', value = '', raw_value = '' } = message.header ?? {};
  if (isProtected(key)) {
    scope.at('header', 'key').error('conflict', ':-prefixed or host headers may not be modified');
  }
  const text = value === '' ? Buffer.from(raw_value, 'base64').toString('utf8') : value;
  const valuePlace = scope.at('header', value === '' ? 'raw_value' : 'value');
  return {
    name: asciiLower(key),
    format: checkFormat(modernFormat(text), valuePlace),
    appendAction: appendAction(message, scope),
    keepEmptyValue: message.keep_empty_value ?? false,
  };
}

function isProtected(name: string): boolean {
  return name.startsWith(':') || name.toLowerCase() === 'host';
}

function appendAction(message: HeaderValueOptionMessage, scope: Scope): HeaderAppendAction {
  const { append, append_action: action } = message;
  if (append === undefined) {
    return typeof action === 'string' ? action : 'APPEND_IF_EXISTS_OR_ADD';
  }
  if (action !== undefined) {
    scope
      .at('append')
      .error('conflict', "Both append and append_action are set and it's not allowed");
  }
  return append ? 'APPEND_IF_EXISTS_OR_ADD' : 'OVERWRITE_IF_EXISTS_OR_ADD';
}

const OLD_METADATA = /%((?:UPSTREAM|DYNAMIC)_METADATA)\(\[(.*?)\]\)%/g;
const OLD_FILTER_STATE = /%PER_REQUEST_STATE\((.*?)\)%/g;

/** Header values may still be written in two older forms that formats elsewhere do not have. */
function modernFormat(text: string): string {
  return text
    .replace(OLD_METADATA, (_, command: string, list: string) => {
      const keys = list.split(',').map((key) => key.trim().replace(/^"|"$/g, ''));
      return `%${command}(${keys.join(':')})%`;
    })
    .replace(OLD_FILTER_STATE, '%FILTER_STATE($1:PLAIN)%');
}
