import { type CsiDefinitions, loadCsi } from '../../../src/csi/load';
import {
  type ClientRequestOf,
  type CsiMethod,
  type RequestOf,
  type ResponseOf,
  rpcs,
} from '../../../src/csi/rpcs';

const definitions: CsiDefinitions = loadCsi();

interface Codec {
  requestSerialize(message: object): Buffer;
  requestDeserialize(bytes: Buffer): object;
  responseSerialize(message: object): Buffer;
  responseDeserialize(bytes: Buffer): object;
}

export function codec(method: CsiMethod): Codec {
  return definitions[rpcs[method].service][method] as unknown as Codec;
}

/** The request as a service gets it: through the real encoder and decoder. */
export function request<M extends CsiMethod>(method: M, fields: ClientRequestOf<M>): RequestOf<M> {
  return fromBytes(method, codec(method).requestSerialize(fields));
}

export function fromBytes<M extends CsiMethod>(method: M, bytes: Buffer): RequestOf<M> {
  return codec(method).requestDeserialize(bytes) as RequestOf<M>;
}

export function response<M extends CsiMethod>(method: M, fields: ResponseOf<M>): object {
  return codec(method).responseDeserialize(codec(method).responseSerialize(fields));
}

/** Wire format by hand, for what no encoder would send. Length-delimited field. */
export function bytesField(number: number, content: Buffer | string): Buffer {
  const body = Buffer.isBuffer(content) ? content : Buffer.from(content, 'utf8');
  return Buffer.concat([varint(BigInt((number << 3) | 2)), varint(BigInt(body.length)), body]);
}

export function varintField(number: number, value: bigint): Buffer {
  return Buffer.concat([varint(BigInt(number << 3)), varint(BigInt.asUintN(64, value))]);
}

export function mapEntry(number: number, key: Buffer | string, value: Buffer | string): Buffer {
  return bytesField(number, Buffer.concat([bytesField(1, key), bytesField(2, value)]));
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = value;
  do {
    const low = Number(rest & 0x7fn);
    rest >>= 7n;
    bytes.push(rest > 0n ? low | 0x80 : low);
  } while (rest > 0n);
  return Buffer.from(bytes);
}
