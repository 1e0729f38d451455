// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// Resolves names both ways, by node (ERC-137, ERC-181); anyone may write.
contract NameResolver {
    mapping(bytes32 => string) public name;
    mapping(bytes32 => address) public addr;

    function setName(bytes32 node, string calldata name_) external {
        name[node] = name_;
    }

    function setAddr(bytes32 node, address addr_) external {
        addr[node] = addr_;
    }
}
