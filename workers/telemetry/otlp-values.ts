/** Attributes and resources of the OpenTelemetry protocol on the wire. */
import type { ResourceAttributes } from '../../shared/resources/telemetry/collector.ts';
import type { ProtoWriter } from '../../shared/protobuf/proto-writer.ts';
import { repairUtf8 } from '../tap/repair-utf8.ts';

/** What stands for a byte that is not UTF-8. */
const NO_TEXT = '!';

/** A KeyValue with a text; one character per byte. */
export function writeAttribute(
  writer: ProtoWriter,
  field: number,
  name: string,
  value: string,
): void {
  writer.message(field, () => {
    writer.text(1, repairUtf8(name, NO_TEXT));
    writer.message(2, () => writeTextValue(writer, repairUtf8(value, NO_TEXT)));
  });
}

/** An AnyValue's text is there when it is empty too. */
export function writeTextValue(writer: ProtoWriter, value: string): void {
  if (value === '') writer.message(1, () => undefined);
  else writer.text(1, value);
}

/** The field `resource` of spans and logs. */
export function writeResource(writer: ProtoWriter, attributes: ResourceAttributes): void {
  writer.message(1, () => {
    for (const [name, value] of attributes) writeAttribute(writer, 1, name, value);
  });
}
