import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseFormat } from '../../../../shared/substitution/parse-format.ts';

const accepted: readonly [text: string, parts: readonly unknown[]][] = [
  ['', []],
  ['plain', ['plain']],
  ['100%%', ['100%']],
  ['%%REQ(X)%%', ['%REQ(X)%']],
  ['a%PROTOCOL%b', ['a', { name: 'PROTOCOL', args: [] }, 'b']],
  ['%REQ(X-A?:PATH):5%', [{ name: 'REQ', args: ['x-a', ':path'], maxLength: 5 }]],
  ['%REQ(X?)%', [{ name: 'REQ', args: ['x'] }]],
  ['%START_TIME(%Y/%m %H:%M)%', [{ name: 'START_TIME', args: ['%Y/%m %H:%M'] }]],
  ['%START_TIME(%E4n)%', [{ name: 'START_TIME', args: ['%E4n'] }]],
  ['%PROTOCOL()%', [{ name: 'PROTOCOL', args: [] }]],
  [
    '%DYNAMIC_METADATA(a:b:c):9%',
    [{ name: 'DYNAMIC_METADATA', args: ['a', 'b', 'c'], maxLength: 9 }],
  ],
  ['%FILTER_STATE(a:FIELD:x:y)%', [{ name: 'FILTER_STATE', args: ['a', 'FIELD', 'x', 'y'] }]],
  ['%METADATA(ROUTE:a)%', [{ name: 'METADATA', args: ['ROUTE', 'a'] }]],
  ['%PATH(:ORIG)%', [{ name: 'PATH', args: ['', 'ORIG'] }]],
  [
    '%COMMON_DURATION(DS_RX_BEG:DS_TX_END)%',
    [{ name: 'COMMON_DURATION', args: ['DS_RX_BEG', 'DS_TX_END', 'ms'] }],
  ],
  ['%XFCC_VALUE(URI)%', [{ name: 'XFCC_VALUE', args: ['uri'] }]],
  [
    '%COALESCE({"operators":["PROTOCOL",{"command":"REQ","param":"a","max_length":3}]})%',
    [
      {
        name: 'COALESCE',
        args: [],
        operators: [
          { name: 'PROTOCOL', args: [] },
          { name: 'REQ', args: ['a'], maxLength: 3 },
        ],
      },
    ],
  ],
];

const refused: readonly [text: string, error: string][] = [
  ['%', "Incorrect configuration: %. Couldn't find valid command at position 0"],
  ['50%', "Incorrect configuration: 50%. Couldn't find valid command at position 2"],
  ['é %x%', "Incorrect configuration: é %x%. Couldn't find valid command at position 3"],
  ['%REQ(X)', "Incorrect configuration: %REQ(X). Couldn't find valid command at position 0"],
  ['%REQ(X):a%', "Incorrect configuration: %REQ(X):a%. Couldn't find valid command at position 0"],
  [
    '%REQ(X):18446744073709551616%',
    "Incorrect configuration: %REQ(X):18446744073709551616%. Couldn't find valid command at position 0",
  ],
  ['%FOO%', 'Not supported field in StreamInfo: FOO'],
  ['%REQ()%', 'REQ requires parameters'],
  ['%REQ(a?b?c)%', 'More than 1 alternative header specified in token: a?b?c'],
  ['%REQ(a b)%', 'Invalid header configuration. Format string contains invalid characters.'],
  ['%REQ(:)%', 'Invalid header configuration. Format string contains invalid characters.'],
  ['%PROTOCOL:5%', 'PROTOCOL does not take any parameters or length'],
  ['%START_TIME(%s):5%', 'START_TIME does not allow length to be specified.'],
  ['%START_TIME(%-n)%', 'Invalid header configuration. Format string contains newline.'],
  ['%FILTER_STATE%', 'Invalid filter state configuration, key cannot be empty.'],
  [
    '%FILTER_STATE(a:FIELD)%',
    'Invalid filter state serialize type, FIELD should be used with the field name.',
  ],
  ['%FILTER_STATE(a:X)%', 'Invalid filter state serialize type, only support PLAIN/TYPED/FIELD.'],
  ['%METADATA(x:y)%', 'x is not supported type of metadata'],
  ['%PATH(x)%', "Invalid PATH option: 'x', only 'WQ'/'NQ' are allowed"],
  [
    '%REQUESTED_SERVER_NAME(SNI_FIRST:x)%',
    "Invalid REQUESTED_SERVER_NAME option: 'x', only 'ORIG_OR_HOST'/'HOST'/'ORIG' are allowed",
  ],
  ['%COMMON_DURATION(a:b:)%', 'Invalid common duration precision: .'],
  [
    '%GRPC_STATUS(x)%',
    'GrpcStatusFormatter only supports CAMEL_STRING, SNAKE_STRING or NUMBER. Got: x',
  ],
  ['%XFCC_VALUE(x)%', 'XFCC_VALUE command does not support subcommand: x'],
  ['%COALESCE({"operators":[]})%', "COALESCE: 'operators' array must not be empty"],
  [
    '%COALESCE({"operators":["FOO"]})%',
    "COALESCE: failed to parse operator at index 0: unknown command: 'FOO'",
  ],
];

describe('a substitution format', () => {
  for (const [text, parts] of accepted) {
    it(`reads ${JSON.stringify(text)}`, () => {
      assert.deepEqual(parseFormat(text), { ok: true, format: { parts } });
    });
  }
  for (const [text, error] of refused) {
    it(`refuses ${JSON.stringify(text)} in Envoy's words`, () => {
      assert.deepEqual(parseFormat(text), { ok: false, error });
    });
  }
});
