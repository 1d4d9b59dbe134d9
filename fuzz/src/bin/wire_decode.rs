//! Answers of models: whatever comes, chunks keep their grammar, and cuts make no difference.
//!
//! The first byte picks the format and the place of the cut, the rest is the answer.
#![no_main]

use artel_rules::stream::ModelReplyBuilder;
use artel_types::model::{ModelFault, ReplyChunk};
use artel_wire::WireFormat;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((first, answer)) = input.split_first() else {
        return;
    };
    let first = usize::from(*first);
    let wire = WireFormat::ALL[first % WireFormat::ALL.len()];
    let cut = answer.len() * first / 255;

    let whole = read(wire, &[answer]);
    let (before, after) = answer.split_at(cut);
    assert_eq!(read(wire, &[before, after]), whole, "cut at {cut}");
    check(&whole.0, whole.1.as_ref());
});

fn read(wire: WireFormat, pieces: &[&[u8]]) -> (Vec<ReplyChunk>, Option<ModelFault>) {
    let mut decoder = wire.decoder();
    let mut chunks = Vec::new();
    for piece in pieces {
        if let Err(fault) = decoder.push(piece, &mut chunks) {
            return (chunks, Some(fault));
        }
    }
    let fault = decoder.finish(&mut chunks).err();
    assert!(decoder.is_done(), "nothing can follow");
    (chunks, fault)
}

fn check(chunks: &[ReplyChunk], fault: Option<&ModelFault>) {
    let mut gather = ModelReplyBuilder::default();
    for chunk in chunks {
        gather.add(chunk).expect("chunks keep their grammar");
    }
    assert_ne!(gather.is_ended(), fault.is_some(), "one end or one fault");
    if let Some(fault) = fault {
        assert!(fault.message.chars().count() <= ModelFault::LONGEST);
        return;
    }
    let reply = gather.reply().expect("an answer that has ended");
    let mut ids: Vec<&str> = reply.tool_calls().map(|call| call.id.as_str()).collect();
    let calls = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), calls, "every call has an id of its own");
    if let Some(usage) = reply.usage {
        assert!(usage.cache_read + usage.cache_write <= usage.input);
        assert!(usage.thinking <= usage.output);
    }
}
