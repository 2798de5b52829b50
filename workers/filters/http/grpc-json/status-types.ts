/** google.rpc.Status and what it is made of, which every descriptor set has in Envoy. */
import type {
  ProtoField,
  ProtoKind,
  ProtoMessage,
} from '../../../../shared/resources/filters/http/grpc-json-transcoder.ts';

export const STATUS_TYPE = 'google.rpc.Status';
const ANY_TYPE = 'google.protobuf.Any';

function field(number: number, name: string, kind: ProtoKind): ProtoField {
  return { number, name, jsonName: name, kind, isRepeated: false, hasPresence: false };
}

export const STATUS_MESSAGES: readonly ProtoMessage[] = [
  {
    name: ANY_TYPE,
    isMapEntry: false,
    fields: [field(1, 'type_url', 'string'), field(2, 'value', 'bytes')],
  },
  {
    name: STATUS_TYPE,
    isMapEntry: false,
    fields: [
      field(1, 'code', 'int32'),
      field(2, 'message', 'string'),
      { ...field(3, 'details', 'message'), type: ANY_TYPE, isRepeated: true },
    ],
  },
];
