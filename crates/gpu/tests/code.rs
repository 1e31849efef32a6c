//! What runs on a card is what `kernels.cu` says, rounds as the processor does, and has every function that is called.
//! No card is needed to see that.

use rosenblatt_kernel::Trouble;

const SOURCE: &str = include_str!("../src/kernels.cu");
const CODE: &str = include_str!("../src/kernels.ptx");
const TENSOR_CODE: &str = include_str!("../src/tensors.ptx");

#[test]
fn the_code_is_that_of_the_source() {
    let hash = SOURCE.bytes().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    });
    // For drivers since CUDA 12.0, and for cards since 2020 and since Hopper.
    for (code, target) in [(CODE, ".target sm_80"), (TENSOR_CODE, ".target sm_90")] {
        let header = code.lines().next().unwrap_or_default();
        assert_eq!(header, format!("// of kernels.cu {hash:016x}"), "run compile.py again");
        assert!(code.contains(".version 8.0") && code.contains(target));
    }
}

/// Arithmetic in doubles is rounded to nearest, once per operation; nothing is approximate.
#[test]
fn the_code_rounds_as_the_processor_does() {
    let mut n_seen = 0;
    for line in CODE.lines().chain(TENSOR_CODE.lines()).map(str::trim) {
        let Some(operation) =
            line.split_whitespace().next().filter(|word| word.rsplit('.').next() == Some("f64"))
        else {
            continue;
        };
        let name = operation.split('.').next().unwrap_or_default();
        if ["add", "sub", "mul", "fma", "div", "sqrt", "mad"].contains(&name) {
            n_seen += 1;
            assert_eq!(operation, format!("{name}.rn.f64"), "{line}");
        }
        assert!(!["ex2", "lg2", "sin", "cos", "tanh", "rcp", "rsqrt"].contains(&name), "{line}");
    }
    assert!(n_seen > 500, "{n_seen} operations");
    // Fused additions are those of the chains over features, 64 side by side, and nowhere else.
    let n_fused = CODE.matches("fma.rn.f64").count();
    assert!(n_fused > 0 && n_fused < 2000, "{n_fused} fused additions");
}

#[test]
fn every_function_of_the_source_is_in_the_code() {
    let mut n_seen = 0;
    for name in [
        "dense_products",
        "tensor_products",
        "dense_distances",
        "dense_minima",
        "whole_products",
        "sparse_products",
        "sparse_distances",
        "sparse_minima",
        "spread_doubles",
        "spread_bytes",
        "file_entries",
        "add_up",
        "vote_per_output",
        "vote_jointly",
        "pick_rows",
        "walk",
    ] {
        assert!(CODE.contains(&format!(".visible .entry {name}(")), "{name}");
        n_seen += 1;
    }
    assert_eq!(CODE.matches(".visible .entry ").count(), n_seen);
    assert!(TENSOR_CODE.contains(".visible .entry tensor_products("));
    assert_eq!(TENSOR_CODE.matches(".visible .entry ").count(), 1);
}

/// Where the compiler is installed, the source still compiles, with the same functions.
#[test]
#[expect(unsafe_code, reason = "a library is looked for")]
fn the_source_compiles_where_the_compiler_is() {
    // SAFETY: opens a library, whose start-up code is trusted.
    if !unsafe { cudarc::nvrtc::sys::is_culib_present() } {
        return;
    }
    let options = cudarc::nvrtc::CompileOptions {
        arch: Some("compute_80"),
        fmad: Some(false),
        options: vec!["--std=c++17".to_owned()],
        ..Default::default()
    };
    let compiled = cudarc::nvrtc::compile_ptx_with_opts(SOURCE, options).unwrap().to_src();
    let entries = |code: &str| -> Vec<String> {
        code.lines().filter(|line| line.contains(".visible .entry ")).map(str::to_owned).collect()
    };
    assert_eq!(entries(&compiled), entries(CODE));
}

/// The search for cards lists them, or says why there is none; nothing panics.
#[test]
fn cards_are_there_or_the_trouble_is_named() {
    match rosenblatt_gpu::cards() {
        Ok(found) => assert!(found.iter().enumerate().all(|(number, card)| card.number == number)),
        Err(trouble) => {
            assert!(matches!(
                trouble,
                Trouble::NoDriver | Trouble::OldDriver { .. } | Trouble::NoCard { .. }
            ));
            assert_eq!(rosenblatt_gpu::Gpu::new(0).unwrap_err(), trouble);
        }
    }
}
