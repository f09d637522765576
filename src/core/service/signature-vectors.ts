import type { TransferOrder } from '../domain/body.ts';

/** A known answer: the order, the exact text that is signed, the key, and the digest that PHP computes. */
export type SignatureVector = {
  name: string;
  payload: TransferOrder;
  key: string;
  body: string;
  signature: string;
};

/** Answers computed with PHP (ksort, json_encode, hash_hmac sha512), as a service written in PHP computes them. */
export const signatureVectors: readonly SignatureVector[] = [
  {
    name: 'plain NGN',
    payload: {
      account_number: '0123456789',
      account_name: 'ADA OBI',
      bank_code: '000013',
      amount: '1500.00',
      currency: 'NGN',
      sender_name: 'Acme Ltd',
      narration: 'November salary',
      reference: 'ACME-0001',
    },
    key: 'enc_test_vector_key',
    body: '{"account_name":"ADA OBI","account_number":"0123456789","amount":"1500.00","bank_code":"000013","currency":"NGN","narration":"November salary","reference":"ACME-0001","sender_name":"Acme Ltd"}',
    signature:
      'e2cb47a4b2d2799b26312483776bbf11e8807aa66d3731a3274d43289363bc48500f6e7fa8711ea6c667acc1815c6ba1cde14eac2661103dccbbe0050eae3cc4',
  },
  {
    name: 'ZAR with type',
    payload: {
      account_number: '0123456789',
      account_name: 'ADA OBI',
      bank_code: '632005',
      amount: '1500.00',
      currency: 'ZAR',
      sender_name: 'Acme Ltd',
      narration: 'November salary',
      reference: 'ACME-0002',
      type: 'EFT',
    },
    key: 'enc_test_vector_key',
    body: '{"account_name":"ADA OBI","account_number":"0123456789","amount":"1500.00","bank_code":"632005","currency":"ZAR","narration":"November salary","reference":"ACME-0002","sender_name":"Acme Ltd","type":"EFT"}',
    signature:
      '0b82411c1017a7e229c89c2c36cef3fd3b7b962f944e608423648881bb8e2d7e6316e9aa33ee28f4a780cb620c9e6fd143ec7473d0b9aa4dbd49992303d2a802',
  },
  {
    name: 'slash',
    payload: {
      account_number: '0123456789',
      account_name: 'ADA OBI',
      bank_code: '000013',
      amount: '1500.00',
      currency: 'NGN',
      sender_name: 'Acme Ltd',
      narration: 'salary 11/2026',
      reference: 'ACME-0003',
    },
    key: 'enc_test_vector_key',
    body: '{"account_name":"ADA OBI","account_number":"0123456789","amount":"1500.00","bank_code":"000013","currency":"NGN","narration":"salary 11\\/2026","reference":"ACME-0003","sender_name":"Acme Ltd"}',
    signature:
      'dfb0c3a930c4d3979b329f20f7f53ce7b521659061afb65ca0c2925f335a2c832887b90d3581181da0c5e3a3fda1a73df426ba81e370b5698bc9b03c33ba797c',
  },
  {
    name: 'accents',
    payload: {
      account_number: '0123456789',
      account_name: 'Ọláìtán Söhne',
      bank_code: '000013',
      amount: '1500.00',
      currency: 'NGN',
      sender_name: 'Acme Ltd',
      narration: 'November salary',
      reference: 'ACME-0004',
    },
    key: 'enc_test_vector_key',
    body: '{"account_name":"\\u1eccl\\u00e1\\u00ect\\u00e1n S\\u00f6hne","account_number":"0123456789","amount":"1500.00","bank_code":"000013","currency":"NGN","narration":"November salary","reference":"ACME-0004","sender_name":"Acme Ltd"}',
    signature:
      '19046bf4d405c19438334b162721e52136477e6dffbdc0d417cd4e9019085643a5270af2e44a9e62728a5403d26292eb2e443777c91a4adbae883a88b201beed',
  },
  {
    name: 'emoji (surrogate pair)',
    payload: {
      account_number: '0123456789',
      account_name: 'ADA OBI',
      bank_code: '000013',
      amount: '1500.00',
      currency: 'NGN',
      sender_name: 'Acme Ltd',
      narration: 'bonus 🎉',
      reference: 'ACME-0005',
    },
    key: 'enc_test_vector_key',
    body: '{"account_name":"ADA OBI","account_number":"0123456789","amount":"1500.00","bank_code":"000013","currency":"NGN","narration":"bonus \\ud83c\\udf89","reference":"ACME-0005","sender_name":"Acme Ltd"}',
    signature:
      'a6047e29f3cdc8f98aa485c28ea6a51c6e48ff8bc812daf27f359424468ebc0b712ae9110d4eba6b5645fe6a98d5290f823243b90bedd15822441aa22aa25bd4',
  },
  {
    name: 'quotes and tags',
    payload: {
      account_number: '0123456789',
      account_name: 'ADA OBI',
      bank_code: '000013',
      amount: '1500.00',
      currency: 'NGN',
      sender_name: 'Acme Ltd',
      narration: '"quoted" <tag> & \'apostrophe\' \\ back',
      reference: 'ACME-0006',
    },
    key: 'enc_test_vector_key',
    body: '{"account_name":"ADA OBI","account_number":"0123456789","amount":"1500.00","bank_code":"000013","currency":"NGN","narration":"\\"quoted\\" <tag> & \'apostrophe\' \\\\ back","reference":"ACME-0006","sender_name":"Acme Ltd"}',
    signature:
      '93b7187952aa3d8b8a1d08347662d887c9afe721c2937831953df143fa4266d82e16527dc0dd3b672839b7c225d9171ed551ecc87df343ae3c9963ea8a32d701',
  },
];
