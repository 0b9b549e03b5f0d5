/** Draws the only picture that the stories attach: a tide curve as a small greyscale PNG. */
import { crc32, deflateSync } from 'node:zlib';

const WIDTH = 160;
const HEIGHT = 90;

export function tideCurve(): Buffer {
  // Each row begins with a filter byte, here 0 for none.
  const rows = Buffer.alloc((WIDTH + 1) * HEIGHT, 0xff);
  for (let y = 0; y < HEIGHT; y++) {
    rows[y * (WIDTH + 1)] = 0;
    for (let x = 0; x < WIDTH; x++) {
      const level = HEIGHT / 2 - Math.sin(x / 12) * (28 - x / 16);
      const shade = Math.abs(y - level) < 1.2 ? 0x20 : y > level ? 0xc8 : 0xff;
      rows[y * (WIDTH + 1) + 1 + x] = shade;
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(WIDTH, 0);
  header.writeUInt32BE(HEIGHT, 4);
  header[8] = 8;
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', deflateSync(rows)), chunk('IEND')]);
}

function chunk(type: string, data: Buffer = Buffer.alloc(0)): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}
