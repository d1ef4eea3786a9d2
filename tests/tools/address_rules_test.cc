// SPDX-License-Identifier: Apache-2.0
#include "tools/http/address_rules.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <string>

namespace kernelindex::tools {
namespace {

bool is_public(const std::string& text) {
  Ipv4Bytes v4;
  Ipv6Bytes v6;
  if (inet_pton(AF_INET, text.c_str(), v4.data()) == 1) return is_public_address(v4);
  EXPECT_EQ(inet_pton(AF_INET6, text.c_str(), v6.data()), 1) << text;
  return is_public_address(v6);
}

TEST(AddressRules, TheFirstAndLastAddressOfEachSpecialIpv4BlockAreRefused) {
  for (const char* text :
       {"0.0.0.0",         "0.255.255.255",   "10.0.0.0",        "10.255.255.255",
        "100.64.0.0",      "100.127.255.255", "127.0.0.1",       "127.255.255.255",
        "169.254.0.0",     "169.254.169.254", "172.16.0.0",      "172.31.255.255",
        "192.0.0.1",       "192.0.2.1",       "192.88.99.1",     "192.168.0.0",
        "192.168.255.255", "198.18.0.0",      "198.19.255.255",  "198.51.100.1",
        "203.0.113.1",     "224.0.0.1",       "239.255.255.255", "240.0.0.0",
        "255.255.255.255"}) {
    EXPECT_FALSE(is_public(text)) << text;
  }
}

TEST(AddressRules, TheirNeighboursArePublic) {
  for (const char* text :
       {"1.0.0.0", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
        "128.0.0.0", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0",
        "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255"}) {
    EXPECT_TRUE(is_public(text)) << text;
  }
}

TEST(AddressRules, OnlyGlobalUnicastIpv6WithoutItsSpecialBlocksIsPublic) {
  for (const char* text : {"::", "::1", "fe80::1", "fc00::1", "fdff::1", "ff02::1", "fec0::1",
                           "100::1", "2001::1", "2001:1ff:ffff::1", "2001:db8::1", "2002:7f00:1::",
                           "3fff::1", "3fff:fff::1", "4000::1", "5f00::1", "1fff::1"}) {
    EXPECT_FALSE(is_public(text)) << text;
  }
  for (const char* text : {"2000::1", "2001:200::1", "2606:4700::1", "2a00:1450::1", "3ffe::1"}) {
    EXPECT_TRUE(is_public(text)) << text;
  }
}

TEST(AddressRules, AnIpv4AddressInsideAnIpv6OneIsJudgedAsItself) {
  EXPECT_FALSE(is_public("::ffff:127.0.0.1"));
  EXPECT_FALSE(is_public("::ffff:10.1.2.3"));
  EXPECT_TRUE(is_public("::ffff:8.8.8.8"));
  EXPECT_FALSE(is_public("64:ff9b::169.254.169.254"));
  EXPECT_TRUE(is_public("64:ff9b::8.8.8.8"));
  EXPECT_FALSE(is_public("64:ff9b:1::8.8.8.8")) << "translation of a local network";
  EXPECT_FALSE(is_public("::8.8.8.8")) << "the old compatible form";
}

}  // namespace
}  // namespace kernelindex::tools
