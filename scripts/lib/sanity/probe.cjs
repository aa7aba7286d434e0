// csi.v1.Identity/Probe over a Unix socket with nothing but node:http2, so that it works before `npm ci` too.
'use strict';

const http2 = require('node:http2');
const net = require('node:net');

/** A gRPC message: one byte "not compressed", four bytes of length; ProbeRequest has no fields. */
const EMPTY_MESSAGE = Buffer.alloc(5);

/**
 * One Probe call.
 * @param {string} socket path of the Unix socket.
 * @returns {Promise<number>} the gRPC status code. Rejects when there is no connection, or no answer in 5 s.
 */
function probe(socket) {
  return new Promise((resolve, reject) => {
    const session = http2.connect('http://localhost', { createConnection: () => net.connect(socket) });
    const end = (settle, value) => {
      session.destroy();
      settle(value);
    };
    session.once('error', (error) => end(reject, error));
    const stream = session.request({
      ':method': 'POST',
      ':path': '/csi.v1.Identity/Probe',
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    stream.setTimeout(5_000, () => end(reject, new Error('no answer to Probe in 5 s')));
    stream.once('error', (error) => end(reject, error));
    // An error without a message comes as headers alone, otherwise the status is in the trailers.
    const status = (headers) => {
      if (headers['grpc-status'] !== undefined) end(resolve, Number(headers['grpc-status']));
    };
    stream.once('response', status);
    stream.once('trailers', status);
    stream.resume();
    stream.end(EMPTY_MESSAGE);
  });
}

/**
 * Probes until the answer is OK.
 * @param {() => boolean} alive false once there is nothing left to wait for.
 */
async function probed(socket, { alive, patience }) {
  const deadline = Date.now() + patience;
  let last = 'nothing tried';
  while (alive() && Date.now() < deadline) {
    try {
      const code = await probe(socket);
      if (code === 0) return;
      last = `Probe answered with code ${code}`;
    } catch (error) {
      last = error.message;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(
    alive()
      ? `no Probe answered OK within ${patience / 1000} s: ${last}`
      : 'the driver ended before it answered a Probe',
  );
}

module.exports = { probed };
