/** What looks at Thrift requests before their route is chosen, one row each. */
import { KindTable } from '../../shared/resources/by-kind.ts';
import type { ThriftFilter } from '../../shared/resources/filters/network/thrift-proxy.ts';
import { readerOf } from '../../shared/thrift/thrift-message.ts';
import { headerMetadataWriter } from '../filters/http/header-to-metadata.ts';
import { ThriftFields, writeThriftEntry } from '../filters/common/thrift-fields.ts';
import type { RequestFilter } from './thrift-proxy.ts';

export const THRIFT_FILTERS = new KindTable<ThriftFilter, [], RequestFilter>({
  header_to_metadata: ({ options }) => {
    const write = headerMetadataWriter(options);
    return (_, headers, info) => write(headers, info);
  },
  payload_to_metadata:
    ({ rules }) =>
    ({ name, type, found, structure }, _, info) => {
      const wanted = rules.filter(({ method, service = '' }) => {
        const isNamed = method === '' || name.slice(name.indexOf(':') + 1) === method;
        return isNamed && name.startsWith(service);
      });
      const body = readerOf(found.protocol, structure, 0);
      const fields = new ThriftFields({ type, body }, wanted);
      for (const { source, onPresent, onMissing } of wanted) {
        if (source.kind === 'fact') continue;
        const value = fields.values.get(source.path.join('.'));
        if (value === undefined) writeThriftEntry(info, onMissing, undefined);
        else if (value !== '') writeThriftEntry(info, onPresent, value);
      }
    },
});
