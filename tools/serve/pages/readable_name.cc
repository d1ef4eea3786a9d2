// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/pages/readable_name.h"

#include <algorithm>
#include <array>
#include <vector>

namespace kernelindex::serve {
namespace {

struct Spelling {
  std::string_view word;  // in lower case
  std::string_view written;
};

// The field's acronyms and proper names. In order of the word.
constexpr std::array kSpellings = std::to_array<Spelling>({
    {"2d", "2D"},
    {"3d", "3D"},
    {"allgather", "AllGather"},
    {"allreduce", "AllReduce"},
    {"altup", "AltUp"},
    {"amd", "AMD"},
    {"bf16", "BF16"},
    {"ce", "CE"},
    {"ckv512", "CKV512"},
    {"conv1d", "Conv1D"},
    {"conv2d", "Conv2D"},
    {"conv3d", "Conv3D"},
    {"conv3x3", "Conv3×3"},
    {"convnextv2", "ConvNeXtV2"},
    {"cpo", "CPO"},
    {"deepseek", "DeepSeek"},
    {"deltanet", "DeltaNet"},
    {"dit", "DiT"},
    {"dpo", "DPO"},
    {"ds", "DS"},
    {"dsa", "DSA"},
    {"dyt", "DyT"},
    {"e2m1", "E2M1"},
    {"e4m3", "E4M3"},
    {"e5m2", "E5M2"},
    {"ffn", "FFN"},
    {"fft", "FFT"},
    {"flashinfer", "FlashInfer"},
    {"flux", "FLUX"},
    {"fp16", "FP16"},
    {"fp32", "FP32"},
    {"fp4", "FP4"},
    {"fp6", "FP6"},
    {"fp8", "FP8"},
    {"gdn", "GDN"},
    {"geglu", "GeGLU"},
    {"gelu", "GELU"},
    {"gemm", "GEMM"},
    {"gemv", "GEMV"},
    {"gqa", "GQA"},
    {"grn", "GRN"},
    {"groupnorm", "GroupNorm"},
    {"grpo", "GRPO"},
    {"hq", "HQ"},
    {"hyena", "Hyena"},
    {"imagenet", "ImageNet"},
    {"int4", "INT4"},
    {"int8", "INT8"},
    {"iou", "IoU"},
    {"jsd", "JSD"},
    {"kl", "KL"},
    {"kpe64", "KPE64"},
    {"kto", "KTO"},
    {"kv", "KV"},
    {"layernorm", "LayerNorm"},
    {"llm", "LLM"},
    {"lm", "LM"},
    {"lora", "LoRA"},
    {"lstm", "LSTM"},
    {"mamba", "Mamba"},
    {"mamba2", "Mamba2"},
    {"matmul", "matmul"},
    {"mha", "MHA"},
    {"mla", "MLA"},
    {"mlp", "MLP"},
    {"moe", "MoE"},
    {"mqa", "MQA"},
    {"mtp", "MTP"},
    {"mxfp4", "MXFP4"},
    {"mxfp8", "MXFP8"},
    {"neox", "NeoX"},
    {"nhwc", "NHWC"},
    {"nvfp4", "NVFP4"},
    {"orpo", "ORPO"},
    {"qk", "QK"},
    {"qkv", "QKV"},
    {"relu", "ReLU"},
    {"resnet", "ResNet"},
    {"rfft", "RFFT"},
    {"rgb", "RGB"},
    {"rms", "RMS"},
    {"rmsnorm", "RMSNorm"},
    {"rope", "RoPE"},
    {"sam", "SAM"},
    {"silu", "SiLU"},
    {"simpo", "SimPO"},
    {"ssm", "SSM"},
    {"ssu", "SSU"},
    {"swiglu", "SwiGLU"},
    {"topk", "top-k"},
    {"trtllm", "TRT-LLM"},
    {"tvd", "TVD"},
    {"unet", "U-Net"},
    {"vae", "VAE"},
    {"vit", "ViT"},
    {"whisper", "Whisper"},
    {"yarn", "YaRN"},
});
static_assert(std::ranges::is_sorted(kSpellings, {}, &Spelling::word));

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The table's spelling; null for a word that is not in it.
const Spelling* spelling_of(std::string_view word) {
  std::string folded(word);
  std::ranges::transform(folded, folded.begin(), lower);
  const auto* found =
      std::ranges::lower_bound(kSpellings, std::string_view(folded), {}, &Spelling::word);
  return found != kSpellings.end() && found->word == folded ? found : nullptr;
}

// Three digits and a separator in front number the kernels of a subset.
constexpr std::size_t kDigits = 3;
bool has_number(std::string_view name) {
  return name.size() > kDigits + 1 && std::ranges::all_of(name.substr(0, kDigits), is_digit) &&
         name[kDigits] == '_';
}

std::vector<std::string_view> split(std::string_view name) {
  std::vector<std::string_view> words;
  while (!name.empty()) {
    const std::size_t end = std::min(name.find('_'), name.size());
    if (end > 0) words.push_back(name.substr(0, end));
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return words;
}

// Of a name without a space.
std::string respelled(std::string_view name) {
  const std::vector<std::string_view> words =
      split(name.substr(has_number(name) ? kDigits + 1 : 0));
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!out.empty()) out += ' ';
    const bool sampled =
        words[i] == "top" && i + 1 < words.size() && (words[i + 1] == "k" || words[i + 1] == "p");
    if (sampled) {
      out += i == 0 ? "Top-" : "top-";
      out += words[++i];
      continue;
    }
    if (const Spelling* spelling = spelling_of(words[i])) {
      out += spelling->written;
    } else {
      out += words[i];
    }
    if (i == 0 && out[0] >= 'a' && out[0] <= 'z') out[0] = static_cast<char>(out[0] - 'a' + 'A');
  }
  return out.empty() ? std::string(name) : out;
}

}  // namespace

std::string readable_name(std::string_view name) {
  if (name.find(' ') == std::string_view::npos) return respelled(name);
  std::string out;
  while (!name.empty()) {
    const std::string_view word = name.substr(0, name.find(' '));
    out += has_number(word) ? respelled(word) : std::string(word);
    name.remove_prefix(word.size());
    if (name.empty()) break;
    out += ' ';
    name.remove_prefix(1);
  }
  return out;
}

}  // namespace kernelindex::serve
