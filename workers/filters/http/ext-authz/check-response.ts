/** Reads envoy.service.auth.v3.CheckResponse: what a gRPC service decided. */
import type { Struct } from '../../../../shared/text/dictionary.ts';
import { type ProtoField, visitFields } from '../../../../shared/protobuf/proto-reader.ts';
import { readStruct } from '../../../../shared/protobuf/struct-message.ts';
import { type CheckOutcome, type Denied, type HeaderPair, NO_CHANGES } from './check.ts';

const FORBIDDEN = 403;
const INTERNAL_ERROR = 500;
/** What an answer's status may be; a service that says another has its denial answered with 403. */
const STATUS_MIN = 200;
const STATUS_MAX = 599;

/** Values of envoy.config.core.v3.HeaderValueOption.HeaderAppendAction. */
const APPEND_OR_ADD = 0;
const ADD_IF_ABSENT = 1;
const OVERWRITE_OR_ADD = 2;

interface HeaderOption {
  key: string;
  value: string;
  /** Undefined: the older field is not there. */
  append: boolean | undefined;
  action: number;
}

interface OkPart {
  readonly headers: HeaderOption[];
  readonly remove: string[];
  readonly response: HeaderOption[];
  readonly queryToSet: HeaderPair[];
  readonly queryToRemove: string[];
  metadata: Struct | undefined;
}

interface AnswerPart {
  status: number;
  readonly headers: HeaderOption[];
  body: string;
}

/** Within `readMessage`. */
export function readCheckResponse(bytes: Buffer): CheckOutcome {
  let code = 0;
  let metadata: Struct | undefined;
  let ok: OkPart | undefined;
  let denied: AnswerPart | undefined;
  let failed: AnswerPart | undefined;
  visitFields(bytes, (field) => {
    if (field.number === 1) code = codeIn(field, code);
    else if (field.number === 2) [ok, failed, denied] = [undefined, undefined, readAnswer(field)];
    else if (field.number === 3) [denied, failed, ok] = [undefined, undefined, readOk(field)];
    else if (field.number === 4) metadata = structIn(field) ?? metadata;
    else if (field.number === 5) [ok, denied, failed] = [undefined, undefined, readAnswer(field)];
  });
  if (code === 0) return allowed(ok, metadata);
  if (failed === undefined) return { kind: 'denied', metadata, ...answerOf(denied, FORBIDDEN) };
  return { kind: 'error', metadata, answer: answerOf(failed, INTERNAL_ERROR) };
}

function allowed(ok: OkPart | undefined, metadata: Struct | undefined): CheckOutcome {
  if (ok === undefined) return metadata === undefined ? NO_CHANGES : { ...NO_CHANGES, metadata };
  const { headers, response } = ok;
  return {
    kind: 'ok',
    set: headers.filter(({ append }) => append !== true).map(pairOf),
    add: [],
    append: headers.filter(({ append }) => append === true).map(pairOf),
    remove: ok.remove,
    queryToSet: ok.queryToSet,
    queryToRemove: ok.queryToRemove,
    response: {
      add: ofAction(response, APPEND_OR_ADD),
      addIfAbsent: ofAction(response, ADD_IF_ABSENT),
      set: ofAction(response, OVERWRITE_OR_ADD),
      overwriteIfExists: ofAction(response, OVERWRITE_OR_ADD + 1),
    },
    metadata: ok.metadata ?? metadata,
  };
}

/** The older field decides where it is there. */
function ofAction(options: readonly HeaderOption[], wanted: number): readonly HeaderPair[] {
  return options
    .filter(({ append, action }) => {
      if (append === undefined) return action === wanted;
      return wanted === (append ? APPEND_OR_ADD : OVERWRITE_OR_ADD);
    })
    .map(pairOf);
}

function pairOf({ key, value }: HeaderOption): HeaderPair {
  return [key.toLowerCase(), value];
}

function answerOf(
  part: AnswerPart | undefined,
  byDefault: number,
): Pick<Denied, 'status' | 'body' | 'headers'> {
  const status = part?.status ?? 0;
  const isStatus = status >= STATUS_MIN && status <= STATUS_MAX;
  return {
    status: isStatus ? status : byDefault,
    body: part?.body ?? '',
    headers: (part?.headers ?? []).map(pairOf),
  };
}

function codeIn(field: ProtoField, before: number): number {
  let code = before;
  field.message((part) => {
    if (part.number === 1) code = part.int32() ?? code;
    else if (part.number === 2) part.text();
  });
  return code;
}

function readAnswer(field: ProtoField): AnswerPart {
  const answer: AnswerPart = { status: 0, headers: [], body: '' };
  field.message((part) => {
    if (part.number === 1) {
      part.message((status) => {
        if (status.number === 1) answer.status = status.int32() ?? answer.status;
      });
    } else if (part.number === 2) answer.headers.push(readOption(part));
    else if (part.number === 3) answer.body = part.text() ?? answer.body;
  });
  return answer;
}

function readOk(field: ProtoField): OkPart {
  const ok: OkPart = {
    headers: [],
    remove: [],
    response: [],
    queryToSet: [],
    queryToRemove: [],
    metadata: undefined,
  };
  field.message((part) => {
    if (part.number === 2) ok.headers.push(readOption(part));
    else if (part.number === 3) ok.metadata = structIn(part) ?? ok.metadata;
    else if (part.number === 5) ok.remove.push((part.text() ?? '').toLowerCase());
    else if (part.number === 6) ok.response.push(readOption(part));
    else if (part.number === 7) ok.queryToSet.push(readPair(part));
    else if (part.number === 8) ok.queryToRemove.push(part.text() ?? '');
  });
  return ok;
}

/** envoy.config.core.v3.HeaderValueOption. */
function readOption(field: ProtoField): HeaderOption {
  const option: HeaderOption = { key: '', value: '', append: undefined, action: 0 };
  field.message((part) => {
    if (part.number === 1) readHeader(part, option);
    else if (part.number === 2) {
      option.append = false;
      part.message((flag) => {
        if (flag.number === 1) option.append = flag.integer() !== 0;
      });
    } else if (part.number === 3) option.action = part.int32() ?? option.action;
  });
  return option;
}

/** A value that is given as bytes counts where there is no text. */
function readHeader(field: ProtoField, option: HeaderOption): void {
  field.message((part) => {
    if (part.number === 1) option.key = part.text() ?? option.key;
    else if (part.number === 2) option.value = part.text() ?? option.value;
    else if (part.number === 3 && option.value === '') {
      option.value = part.bytes()?.toString('latin1') ?? option.value;
    }
  });
}

function readPair(field: ProtoField): HeaderPair {
  let [key, value] = ['', ''];
  field.message((part) => {
    if (part.number === 1) key = part.text() ?? key;
    else if (part.number === 2) value = part.text() ?? value;
  });
  return [key, value];
}

function structIn(field: ProtoField): Struct | undefined {
  const bytes = field.bytes();
  return bytes && readStruct(bytes);
}
