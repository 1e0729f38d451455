// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// As the Ethereum Attestation Service has it (Common.sol).
struct Attestation {
    bytes32 uid;
    bytes32 schema;
    uint64 time;
    uint64 expirationTime;
    uint64 revocationTime;
    bytes32 refUID;
    address recipient;
    address attester;
    bool revocable;
    bytes data;
}

/// Keeps attestations; anyone may write any.
contract AttestationService {
    mapping(bytes32 => Attestation) private attestations;

    function put(Attestation calldata attestation) external {
        attestations[attestation.uid] = attestation;
    }

    function getAttestation(bytes32 uid) external view returns (Attestation memory) {
        return attestations[uid];
    }
}

/// Which attestation of a schema a wallet has.
contract AttestationIndexer {
    mapping(address => mapping(bytes32 => bytes32)) private uids;

    function put(address recipient, bytes32 schemaUid, bytes32 uid) external {
        uids[recipient][schemaUid] = uid;
    }

    function getAttestationUid(address recipient, bytes32 schemaUid) external view returns (bytes32) {
        return uids[recipient][schemaUid];
    }
}

/// Answers for another attestation than the one it was asked for.
contract LyingAttestationService {
    function getAttestation(bytes32 uid) external view returns (Attestation memory attestation) {
        attestation.uid = keccak256(abi.encode(uid));
        attestation.recipient = address(this);
    }
}
